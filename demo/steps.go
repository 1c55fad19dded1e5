package demo

// step is one stop of the tour: statements that run one after the other in one session.
type step struct {
	title      string
	describe   string   // relation for psql's \d, in place of statements
	statements []string // each compared with the same over plain tables, except EXPLAIN
}

var steps = []step{
	{
		title:    "A DuckDB table is a table like any other",
		describe: "lake.flights",
	},
	{
		title: "Count: DuckDB does all of the work",
		statements: []string{
			`SELECT count(*) AS flights, max(delay) AS worst, max(distance) AS longest FROM lake.flights WHERE delay > 15`,
			`EXPLAIN SELECT count(*) FROM lake.flights WHERE delay > 15`,
		},
	},
	{
		title: "Join: flights in DuckDB, airports at home",
		statements: []string{`SELECT a.city, a.state, count(*) AS flights,
       round(avg(f.delay), 1) AS avg_delay, max(f.delay) AS worst
FROM lake.flights f JOIN airports a ON a.iata = f.origin
GROUP BY a.city, a.state HAVING count(*) >= 100
ORDER BY avg_delay DESC, a.city LIMIT 5`},
	},
	{
		title: "Three places in one statement: weather is a Parquet file",
		statements: []string{`WITH wet AS (
  SELECT city, extract(month FROM day)::int AS month,
         round(100.0 * count(*) FILTER (WHERE weather <> 'sun') / count(*)) AS wet_days_percent
  FROM files.weather GROUP BY 1, 2)
SELECT a.city, to_char(f.departed, 'Mon') AS month, w.wet_days_percent,
       count(*) AS flights, round(avg(f.delay), 1) AS avg_delay
FROM lake.flights f
JOIN airports a ON a.iata = f.origin
JOIN wet w ON w.city = a.city AND w.month = extract(month FROM f.departed)
GROUP BY a.city, 2, w.month, w.wet_days_percent
ORDER BY a.city, w.month`},
	},
	{
		title: "EXPLAIN: what runs where when home takes part",
		statements: []string{`EXPLAIN SELECT a.name, count(*)
FROM lake.flights f JOIN airports a ON a.iata = f.destination
WHERE f.distance > 2000 GROUP BY a.name`},
	},
	{
		title: "COPY the hottest days out as CSV",
		statements: []string{`COPY (SELECT day, city, temp_max FROM files.weather
      ORDER BY temp_max DESC, day, city LIMIT 4) TO STDOUT WITH (FORMAT csv, HEADER)`},
	},
	{
		title: "A cursor: rows come as they are fetched",
		statements: []string{
			`BEGIN`,
			`DECLARE late CURSOR FOR
  SELECT departed, origin, destination, delay FROM lake.flights ORDER BY delay DESC, departed`,
			`FETCH 3 FROM late`,
			`FETCH 2 FROM late`,
			`CLOSE late`,
			`COMMIT`,
		},
	},
}
