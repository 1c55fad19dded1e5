BEGIN;
INSERT INTO sink (id) VALUES (-1);
SELECT count(*) FROM sink WHERE id = -1;
ROLLBACK;
