\set id random(1, 200)
\set n random(1, 50000)
SELECT id, name, price, doc FROM item WHERE id = :id;
SELECT count(*) AS few, max(label) AS most FROM series WHERE n BETWEEN :n AND :n + 10 \gset
SELECT i.id, s.label FROM item i JOIN series s ON s.n = i.id WHERE i.qty > :few - 50 ORDER BY i.id LIMIT 3;
\if :few < 1
SELECT 1 / 0;
\endif
