package dialect

// The casts, by the type wanted.
var duckCasts = Table{
	{Cast, "int2", takes(Integer), is(Plain(int2OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Integer), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int8", takes(Integer), is(Plain(int8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int2", takes(Exact), is(Plain(int2OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Exact), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int8", takes(Exact), is(Plain(int8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Bool), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Exact), exactResult, "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Numeric), wideResult, "$1", "casts"},
	{Cast, "float8", takes(Integer), is(Plain(float8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "float8", takes(Numeric), is(Plain(float8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Float8), guarded(WideNumeric()), "sluice_float8_numeric($1)", "float_arithmetic"},
	{Cast, "float8", takes(Float8), is(Plain(float8OID)), "$1", "casts"},
	{Cast, "float8", takes(Float4), is(Plain(float8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Integer), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Bool), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Numeric), displayedResult, "$1", "casts"},
	{Cast, "text", takes(UUID), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Text), textResult, "$1", "casts"},
	{Cast, "timestamp", takes(Date), guarded(Plain(timestampOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Timestamp), is(Plain(dateOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Date), is(Plain(dateOID)), "$1", "casts"},
	{Cast, "timestamp", takes(Timestamp), is(Plain(timestampOID)), "$1", "casts"},
	{Cast, "bool", takes(Bool), is(Plain(boolOID)), "$1", "casts"},
	{Cast, "uuid", takes(UUID), is(Plain(uuidOID)), "$1", "casts"},
}

var exactResult = Result{"numeric, scale s", func(args []Type) (Type, Fit) {
	w, s, ok := args[0].Digits()
	if !ok {
		return Type{}, Misfit
	}
	t := Decimal(w+s, s)
	t.Loose, t.Dynamic = args[0].Loose, args[0].Dynamic
	return t, Fits
}}

// displayedResult is the text of a numeric whose scale is known.
var displayedResult = Result{"text", func(args []Type) (Type, Fit) {
	if args[0].Loose && args[0].Dynamic == "" {
		return Type{}, Misfit
	}
	return TextOf(), Fits
}}
