\set id random(1, 200)
\startpipeline
SELECT id, name FROM item WHERE id = :id;
SELECT 1;
SELECT count(*) FROM item WHERE id > :id;
\endpipeline
