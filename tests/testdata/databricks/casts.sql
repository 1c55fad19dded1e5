SELECT id, i::bigint, s::int, id::int AS j, id::smallint AS k, n::int, m::bigint, n::smallint, ok::int, i::numeric, n::numeric, m::numeric(10,2), i::numeric(12,3), i::text, b::text, ok::text, v::text, c::text, d::timestamp, at::date, d::date, at::timestamp, ok::boolean, i::float8, s::float8, g::float8 FROM twin WHERE id < 6 AND id <> 3 ORDER BY id;
SELECT b::int FROM twin ORDER BY id;
SELECT n::smallint FROM twin ORDER BY id;
SELECT m::numeric(4,2) FROM twin ORDER BY id;
