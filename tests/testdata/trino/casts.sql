SELECT id, i::bigint, s::int, id::int AS j, id::smallint AS k, b::bigint, n::int, m::bigint, n::smallint, ok::int FROM twin WHERE id < 6 ORDER BY id;
SELECT b::int FROM twin ORDER BY id;
SELECT n::smallint FROM twin ORDER BY id;
SELECT id, i::numeric, n::numeric, (n / 7)::numeric, m::numeric(10,2), i::numeric(12,3) FROM twin ORDER BY id;
SELECT m::numeric(4,2) FROM twin ORDER BY id;
SELECT id, i::text, b::text, ok::text, n::text, (n / 7)::text, v::text, c::text FROM twin ORDER BY id;
SELECT id, d::timestamp, at::date, d::date, at::timestamp, ok::boolean FROM twin ORDER BY id;
