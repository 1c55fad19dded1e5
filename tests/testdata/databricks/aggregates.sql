SELECT count(*), count(i), count(DISTINCT s), count(*) FILTER (WHERE ok), min(i), max(s), min(b), max(n), min(m), max(t), max(d), min(at), min(v), max(z), bool_and(ok), bool_or(ok), every(i > -100000000), sum(s), sum(i), sum(b), sum(n), sum(m), sum(DISTINCT n), sum(i) FILTER (WHERE ok) FROM twin;
SELECT count(*), sum(i), sum(n), min(t), bool_or(ok) FROM twin WHERE id < 0;
SELECT ok, count(*), sum(b), max(t) FROM twin GROUP BY ok ORDER BY ok;
SELECT s, t, count(*) FROM twin GROUP BY s, t HAVING count(*) > 0 AND max(id) > 2 ORDER BY s, t;
SELECT d, c, z, count(*) FROM twin GROUP BY d, c, z ORDER BY d, c, z;
