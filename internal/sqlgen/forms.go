package sqlgen

import "strings"

// forms are ways to make an expression that no catalog lists, by the type of the result. {type} stands for an argument;
// forms with {T} are there once for each type.
var forms = map[string][]string{
	"bool": {"{bool} AND {bool}", "{bool} OR {bool}", "NOT ({bool})", "({bool}) IS TRUE", "({bool}) IS NOT FALSE", "({bool}) IS UNKNOWN",
		"{text} LIKE 'a%'", "{text} LIKE '%b%'", "{text} LIKE 'N_te%'", "{text} LIKE '%e'", "{text} NOT LIKE '%a_'", `{text} LIKE 'a\_%'`, "{text} LIKE 'a!_b' ESCAPE '!'", "{text} ILIKE 'A%'",
		"{text} SIMILAR TO '(a|b)%'", "{text} ~ '^[a-c]'", "{text} ~* 'NOTE'", "{text} !~ 'a$'", "{text} IN ('a', 'eng', {text})", "{text} NOT IN ('a', 'x')",
		"{int4} IN ({int4}, {int4}, 3)", "{int4} NOT IN (1, NULL, {int4})", "{int4} BETWEEN {int4} AND {int4}", "{numeric} BETWEEN {numeric} AND {numeric}", "{int4} NOT BETWEEN SYMMETRIC {int4} AND {int4}",
		"{date} BETWEEN {date} AND {date}", "{int4} = ANY (ARRAY[1, 2, {int4}])", "{int4} > ALL ({_int4})", "{text} = ANY ({_text})", "({int4}, {text}) = ({int4}, {text})", "({int4}, {int4}) < ({int4}, {int4})",
		"({date}, {date}) OVERLAPS ({date}, {date})", "({int4}, {date}) IS NOT DISTINCT FROM ({int4}, {date})", "{pair} = {pair}", "ROW({int4}, {text}) IS NULL"},
	"int4": {"extract(year FROM {date})::int", "position({text} IN {text})", "({_int4})[1]", "({_int4})[{int4}]", "({pair}).a", "CASE {int4} WHEN 1 THEN {int4} WHEN {int4} THEN 2 END",
		"cardinality({_text})", "array_length({_int4}, 1)", "({jsonb} ->> 'a')::int", "num_nulls({int4}, {text})"},
	"int2": {"({int4})::int2"},
	"int8": {"({numeric})::int8"},
	"numeric": {"extract(year FROM {timestamp})", "extract(month FROM {date})", "extract(dow FROM {date})", "extract(epoch FROM {timestamptz})", "extract(second FROM {timestamp})", "extract(epoch FROM {interval})",
		"extract(day FROM {interval})", "extract(hour FROM {timestamptz})", "extract(isoyear FROM {date})", "extract(week FROM {date})", "({numeric})::numeric(10,2)", "({numeric})::numeric(4,0)", "({int4})::numeric(12,4)", "({numeric})::numeric(5,-2)",
		"round({numeric}, 1)", "round({numeric}, 2)", "trunc({numeric}, 1)", "{numeric} * (1 - {numeric})", "{numeric} / 3", "{numeric} * 2"},
	"float8": {"date_part('year', {timestamp})", "date_part('epoch', {timestamptz})", "{float8} / 3"},
	"text": {"substring({text} FROM 2 FOR 2)", "substring({text} FROM 2)", "substring({text} FROM '[a-z]+')", "trim({text})", "trim(LEADING 'a' FROM {text})", "trim(BOTH {text} FROM {text})", "overlay({text} PLACING 'xx' FROM 2)",
		"concat({text}, {int4}, {text})", "concat_ws('-', {text}, {text}, {date})", "left({text}, 2)", "right({text}, -1)", "split_part({text}, ' ', 1)", "replace({text}, 'a', 'xx')", "repeat({text}, 2)",
		"lpad({text}, 4, '*')", "rpad({text}, 3)", "to_char({int4}, '9999')", "to_char({numeric}, 'FM999990.00')", "to_char({timestamp}, 'YYYY-MM-DD HH24:MI:SS.US')", "to_char({date}, 'Day, DD Month')", "to_char({interval}, 'HH24:MI')",
		"({_text})[2]", "({pair}).b", "({text})::varchar(2)::text", "({text})::char(3)::text", "{text} || {int4}", "format('%s|%I|%L', {text}, {text}, {int4})", "regexp_replace({text}, 'a', 'b', 'g')", "translate({text}, 'abc', 'xy')",
		`{text} COLLATE "C"`, "normalize({text})", "pg_typeof({numeric})::text", "array_to_string({_int4}, ',')", "({jsonb} #>> '{b,1}')", "to_char({float8}, '9.99EEEE')"},
	"varchar":     {"({text})::varchar(3)", "({int4})::varchar"},
	"bpchar":      {"({text})::char(4)", "({varchar})::char(2)"},
	"date":        {"{date} + 1", "{date} - 30", "({timestamp})::date", "({timestamptz})::date", "to_date({text}, 'YYYY-MM-DD')", "make_date(2024, {int4}, 1)"},
	"time":        {"({timestamp})::time", "({time})::time(0)"},
	"timestamp":   {"{date} + interval '1 month'", "{timestamp} + interval '1 day'", "{timestamp} - interval '1 month'", "{date} - interval '1 year'", "date_trunc('month', {timestamp})", "date_trunc('day', {timestamp})", "date_trunc('week', {timestamp})", "date_trunc('quarter', {timestamp})", "{timestamptz} AT TIME ZONE 'America/New_York'", "({timestamp})::timestamp(0)"},
	"timestamptz": {"{timestamptz} + interval '1 hour'", "{timestamptz} + interval '1 day'", "date_trunc('hour', {timestamptz})", "date_trunc('day', {timestamptz})", "date_trunc('day', {timestamptz}, 'Europe/Berlin')", "{timestamp} AT TIME ZONE 'Europe/London'"},
	"interval":    {"{int4} * interval '1 day'", "interval '1 mon' * {int4}", "make_interval(days => {int4})", "age({timestamp}, {timestamp})", "({interval})::interval day to second"},
	"_int4":       {"ARRAY[{int4}, {int4}]", "({_int4})[1:2]", "ARRAY[[1, {int4}], [{int4}, 4]]", "string_to_array({text}, ',')::int[]", "ARRAY(SELECT generate_series(1, 3))"},
	"_text":       {"ARRAY[{text}, {text}]", "string_to_array({text}, 'a')", "regexp_split_to_array({text}, '[ab]')"},
	"json":        {"json_build_object('a', {int4}, 'b', {text})", "to_json({timestamptz})", "json_build_array({numeric}, {bool})", "to_json({_int4})"},
	"jsonb":       {"jsonb_build_object('a', {numeric}, 'b', {text})", "to_jsonb({text})", "jsonb_path_query_array({jsonb}, '$.b[*]')"},
	"pair":        {"ROW({int4}, {text}, {_int4})::h.pair"},
}

// everyType are the forms that each type has.
var everyType = map[string][]string{
	"bool": {"{T} IS NULL", "({T}) IS NOT NULL", "{T} IS DISTINCT FROM {T}", "{T} IS NOT DISTINCT FROM {T}", "{T} IN ({T}, {T})"},
	"T":    {"coalesce({T}, {T})", "CASE WHEN {bool} THEN {T} ELSE {T} END", "CASE WHEN {bool} THEN {T} END", "CASE WHEN {bool} THEN {T} WHEN {bool} THEN {T} ELSE NULL END", "nullif({T}, {T})", "greatest({T}, {T})", "least({T}, {T}, {T})"},
}

// aggregates by the type of the result. {U} stands for an argument in uniform form of the type behind it. None depends on
// the order of rows: sums of floats, which do, are left out.
var aggregates = map[string][]string{
	"int8":    {"count(*)", "count({int4})", "count({text})", "count(DISTINCT {text})", "count(DISTINCT {int4})", "count(DISTINCT {numeric})", "sum({int4})", "sum({int2})", "count({float8})", "regr_count({float8}, {int4})", "sum(DISTINCT {int4})", "count(DISTINCT {date})"},
	"numeric": {"sum({numeric})", "avg({numeric})", "avg({int4})", "avg({int8})", "sum({int8})", "stddev({numeric})", "var_pop({int4})", "stddev_pop({int8})", "variance({numeric})", "min({U:numeric})", "max({U:numeric})", "avg(DISTINCT {int4})"},
	"int4":    {"min({int4})", "max({int4})", "bit_and({int4})", "bit_or({int4})", "bit_xor({int4})"},
	"bool":    {"bool_and({bool})", "bool_or({bool})", "every({bool})"},
	"text":    {"min({text})", "max({text})", "string_agg({text}, ',' ORDER BY {keys})", "string_agg(DISTINCT {text}, '')", "percentile_disc(0.5) WITHIN GROUP (ORDER BY {text})"},
	"float8":  {"min({U:float8})", "max({U:float8})", "percentile_cont(0.25) WITHIN GROUP (ORDER BY {U:float8})", "percent_rank(2) WITHIN GROUP (ORDER BY {int4})"},
	"date":    {"min({date})", "max({date})"}, "timestamp": {"min({timestamp})", "max({timestamp})"}, "timestamptz": {"min({timestamptz})", "max({timestamptz})"},
	"interval": {"min({U:interval})", "max({U:interval})", "sum({interval})"},
	"_int4":    {"array_agg({int4} ORDER BY {keys})", "array_agg(DISTINCT {int4})"},
	"_text":    {"array_agg({text} ORDER BY {text} DESC NULLS LAST, {keys})"},
	"jsonb":    {"jsonb_agg({numeric} ORDER BY {keys})", "jsonb_object_agg(coalesce({text}, ''), {int4} ORDER BY {keys})"},
	"json":     {"json_agg({int4} ORDER BY {keys})"},
	"mood":     {"max({mood})"},
}

// windowed are functions of windows by the type of the result, over peers; those of ordered need a total order.
var windowed = map[string][]string{
	"int8":   {"rank()", "dense_rank()", "count(*)", "sum({int4})", "count({text})"},
	"float8": {"percent_rank()", "cume_dist()", "min({U:float8})"},
	"int4":   {"max({int4})"}, "numeric": {"sum({numeric})", "avg({int4})", "avg({numeric})"}, "text": {"min({text})"}, "bool": {"bool_or({bool})"}, "date": {"max({date})"},
}

var ordered = map[string][]string{
	"int8": {"row_number()"}, "int4": {"ntile(3)", "lag({int4})", "lead({int4}, 2, -1)", "first_value({int4})", "nth_value({int4}, 2)"},
	"text": {"lag({text})", "last_value({text})", "first_value({text})", "string_agg({text}, '|')"}, "numeric": {"lead({numeric})", "nth_value({numeric}, 3)"},
	"_int4": {"array_agg({int4})"}, "timestamp": {"lag({timestamp}, 1)"},
}

// production is one way to make an expression: a form with its arguments, and whether engines take it.
type production struct {
	form, result string
	parts        []part
	taken        taken
}

// taken says how an engine takes a production.
type taken int

const (
	never     taken = iota
	constants       // all arguments but the first must be constants
	always
)

// part is text, or an argument where typ is set.
type part struct {
	text, typ string
	uniform   bool
}

// newProduction takes a form apart.
func newProduction(result, form string) *production {
	p := &production{form: form, result: result}
	for rest := form; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			p.parts = append(p.parts, part{text: rest})
			break
		}
		end := open + strings.IndexByte(rest[open:], '}')
		name, isUniform := strings.CutPrefix(rest[open+1:end], "U:")
		if _, ok := values[name]; !ok && name != "keys" {
			p.parts = append(p.parts, part{text: rest[:end+1]})
		} else {
			p.parts = append(p.parts, part{text: rest[:open]}, part{typ: name, uniform: isUniform})
		}
		rest = rest[end+1:]
	}
	return p
}
