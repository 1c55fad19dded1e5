\set id random(1, 1000000)
BEGIN;
INSERT INTO sink (id, name) VALUES (:id, 'client ' || :client_id);
SELECT count(*) FROM sink WHERE id = :id;
END;
