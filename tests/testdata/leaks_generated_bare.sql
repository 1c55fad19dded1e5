-- Other values behind the masks of leak_reader, in schema bare, which has the rows that it may see.
UPDATE bare.ints SET i8 = CASE WHEN i2 > 0 THEN i8 ELSE 5 - k END;
UPDATE bare.nums SET w = k, s = trunc(s) + sign(s) * 0.5;
UPDATE bare.floats SET f4 = CASE WHEN k > 14 THEN f4 ELSE k END;
UPDATE bare.texts SET v = k, c = 'other', m = CASE WHEN length(m) > 2 THEN overlay(m PLACING '?' FROM 2 FOR 1) ELSE '?' END;
UPDATE bare.dates SET ts = date_trunc('month', ts) + CASE WHEN isfinite(ts) THEN interval '1 hour' ELSE '0' END, tz = '1999-09-09';
UPDATE bare.misc SET u = NULL, y = '\x00', j = '3', ai = '{3}', at = '{}';
UPDATE bare.coll SET bytes = left(bytes, 1);
UPDATE bare.exact SET g = k;
UPDATE bare.kinds SET jb = '3', e = 'sad', p = '(3,,)', na = '{3}';
UPDATE bare.clocks SET ttz = '03:00+00';
UPDATE bare.mild SET i = k, s = k, n = 100 + n, t = 'other';
