SELECT id, row_number() OVER (ORDER BY n DESC, id), rank() OVER (ORDER BY s), dense_rank() OVER (ORDER BY s), ntile(3) OVER (ORDER BY id) FROM twin ORDER BY id;
SELECT id, lag(t) OVER (ORDER BY id), lag(i, 2) OVER (ORDER BY id), lead(n) OVER (PARTITION BY ok ORDER BY id), lead(d, 3) OVER (ORDER BY id) FROM twin ORDER BY id;
SELECT id, first_value(t) OVER (PARTITION BY ok ORDER BY id), last_value(n) OVER (PARTITION BY ok ORDER BY s) FROM twin ORDER BY id;
SELECT id, sum(n) OVER (PARTITION BY ok ORDER BY id), count(*) OVER (), max(i) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), avg(n) OVER (PARTITION BY ok) FROM twin ORDER BY id;
