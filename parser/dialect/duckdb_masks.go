package dialect

// band is the width of a band of numbers.
func band(c Class) Arg { return literal(c, "a number from 1", place.Literal) }

// The mask functions of schema sluice. None of them raises an error.
var duckMasks = Table{
	{Function, "sluice.mask_text", takes(Text), textResult, "CASE WHEN $1 IS NOT NULL THEN '***' END", "masks"},
	{Function, "sluice.mask_partial", []Arg{{Class: Text}, count, separator, count}, textResult,
		"CASE WHEN $1 IS NULL THEN NULL WHEN length(left($1, $2) || right($1, $4)) < length($1) THEN left($1, $2) || $3 || right($1, $4) ELSE $3 END", "masks"},
	{Function, "sluice.mask_email", takes(Equal), textResult,
		"CASE WHEN contains($1, '@') THEN left($1, 1) || '***@' || split_part($1, '@', 2) WHEN $1 IS NOT NULL THEN '***' END", "masks"},
	{Function, "sluice.mask_phone", takes(Text), textResult,
		"CASE WHEN length($1) > 4 THEN '********' || right($1, 2) WHEN $1 IS NOT NULL THEN '********' END", "masks"},
	{Function, "sluice.salted_hash", []Arg{{Class: Text}, separator}, textResult, "left(sha256($2 || $1), 32)", "masks"},
	{Function, "sluice.mask_month", takes(Date), firstResult, "CAST(date_trunc('month', $1) AS DATE)", "masks"},
	{Function, "sluice.mask_month", takes(Timestamp), firstResult, truncated("'month'", "$1"), "masks"},
	{Function, "sluice.mask_month", takes(Zoned), firstResult, truncated("'month'", "$1"), "masks"},
	{Function, "sluice.mask_year", takes(Date), firstResult, "CAST(date_trunc('year', $1) AS DATE)", "masks"},
	{Function, "sluice.mask_year", takes(Timestamp), firstResult, truncated("'year'", "$1"), "masks"},
	{Function, "sluice.mask_year", takes(Zoned), firstResult, truncated("'year'", "$1"), "masks"},
	{Function, "sluice.mask_band", []Arg{{Class: Int4}, band(Integer)}, firstResult, "CAST($1 - $1 % $2 AS $t)", "masks"},
	{Function, "sluice.mask_band", []Arg{{Class: Int8}, band(Integer)}, firstResult, "CAST($1 - $1 % $2 AS $t)", "masks"},
	{Function, "sluice.mask_band", []Arg{{Class: Fixed}, band(Exact)}, firstResult, "CAST($1 - $1 % $2 AS $t)", "masks"},
	{Function, "sluice.mask_band", []Arg{{Class: Float8}, band(Float8)}, firstResult,
		"CASE WHEN isfinite($1) THEN trunc($1 / $2) * $2 ELSE $1 END", "masks"},
}
