SELECT id, extract(year FROM d), extract(quarter FROM d), extract(month FROM d), extract(day FROM d), extract(year FROM at), extract(quarter FROM at), extract(month FROM at), extract(day FROM at), extract(hour FROM at), extract(minute FROM at) FROM twin ORDER BY id;
SELECT id, date_trunc('year', at), date_trunc('quarter', at), date_trunc('month', at), date_trunc('week', at), date_trunc('day', at), date_trunc('hour', at), date_trunc('minute', at), date_trunc('second', at) FROM twin ORDER BY id;
SELECT id FROM twin WHERE d >= date '2024-02-29' - interval '1 year' AND d < date '2024-01-31' + interval '1' month ORDER BY id;
SELECT extract(year FROM d), count(*) FROM twin GROUP BY 1 ORDER BY 1;
