SELECT id, i + s, i - s, s * s, id + s, id - i, i * s, s + s, i / 7, i % 7, -i, -s, abs(s), abs(i), mod(i, 7), i / -3, i % -3 FROM twin ORDER BY id;
SELECT id, i / s, i % s, mod(s, s) FROM twin WHERE s > 0 OR s < 0 ORDER BY id;
SELECT id, i / s FROM twin ORDER BY id;
SELECT b + 1 FROM twin ORDER BY id;
SELECT -b FROM twin ORDER BY id;
SELECT b / -1 FROM twin ORDER BY id;
SELECT b % -1 FROM twin ORDER BY id;
SELECT id, n + m, n - m, n * m, n + i, n * s, -n, -m, abs(m), abs(n), n - 1, m * 3, 1.5 - n, n * n, round(n), round(m, 2), round(m, 8), round(n, 1), ceil(m), ceiling(n), floor(m), floor(n) FROM twin ORDER BY id;
