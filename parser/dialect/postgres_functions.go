package dialect

// shared are functions of pg_catalog, in all of their forms, whose results depend on their arguments alone, or on the
// settings that are the same at both sides: TimeZone, DateStyle, IntervalStyle, extra_float_digits and bytea_output. They
// are those of Postgres 15, the oldest server that statements are written for.
//
// Left out are functions that read the catalog or the clock, that depend on other settings (text search, xml, money), that are
// meant for operators and types, and those whose results have changed between versions (normalize, jsonpath).
var shared = words(`
abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees div exp factorial floor gcd
isfinite lcm ln log log10 min_scale mod pi pow power radians round scale sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket

ascii bit_count bit_length btrim char_length character_length chr concat concat_ws convert_from convert_to decode encode format get_bit get_byte
initcap left length like_escape lower lpad ltrim md5 octet_length overlay parse_ident position quote_ident quote_literal quote_nullable regexp_count
regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace
reverse right rpad rtrim set_bit set_byte sha224 sha256 sha384 sha512 similar_escape similar_to_escape split_part starts_with string_to_array
string_to_table strpos substr substring to_ascii to_hex translate unistr upper

age date date_bin date_part date_trunc extract justify_days justify_hours justify_interval make_date make_interval make_time make_timestamp
make_timestamptz overlaps timezone to_char to_date to_number to_timestamp

array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions array_prepend array_remove
array_replace array_to_json array_to_string array_upper cardinality generate_series generate_subscripts trim_array unnest

avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank every first_value lag last_value lead max min mode
nth_value ntile percent_rank percentile_cont percentile_disc rank regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
regr_syy row_number stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance num_nonnulls num_nulls

json_agg json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
json_extract_path json_extract_path_text json_object json_object_agg json_object_keys json_strip_nulls json_typeof jsonb_agg
jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_keys jsonb_pretty jsonb_set jsonb_set_lax
jsonb_strip_nulls jsonb_typeof row_to_json to_json to_jsonb

abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask network set_masklen
area box center circle diagonal diameter height isclosed isopen line lseg npoints path pclose point polygon popen radius slope width
datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange nummultirange numrange
range_agg range_intersect_agg range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf
`)

// since are further ones, with the first version that has them.
var since = map[string]int{
	"any_value": 160000, "date_add": 160000, "date_subtract": 160000, "erf": 160000, "erfc": 160000,
	"to_bin": 170000, "to_oct": 170000, "uuid_extract_timestamp": 170000, "uuid_extract_version": 170000,
	"array_reverse": 180000, "array_sort": 180000, "casefold": 180000, "crc32": 180000, "crc32c": 180000, "gamma": 180000, "lgamma": 180000,
}

// grown are functions that got further forms in a version: what home takes one of, an older server may lack.
var grown = map[string]int{
	"json_strip_nulls": 180000, "jsonb_strip_nulls": 180000, "max": 180000, "min": 180000, "reverse": 180000,
	"regexp_replace": 150000, "round": 150000,
}

// ofRows are those of the functions above that are computed of several rows: aggregates, and what windows have.
var ofRows = words(`avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank every first_value lag last_value lead
max min mode nth_value ntile percent_rank percentile_cont percentile_disc rank regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
regr_sxx regr_sxy regr_syy row_number stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance
array_agg json_agg json_object_agg jsonb_agg jsonb_object_agg range_agg range_intersect_agg`)

// Scalar reports whether a function of pg_catalog is known to be computed of its arguments alone, in all of its forms.
func Scalar(name string) bool { return shared[name] && !ofRows[name] }

// Shared reports whether a call of a function of pg_catalog yields at a server of the version what it does at home.
func Shared(name string, home, remote int) bool {
	if first := grown[name]; home >= first && remote < first {
		return false
	}
	return shared[name] || since[name] != 0 && remote >= since[name]
}

// operators are those of pg_catalog whose results depend on their arguments alone, or on the same settings. Left out are
// text search and jsonpath, which hang on more.
var operators = words(`!~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^ = > >= >>
>>= >^ ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`)

// SharedOperator is Shared for operators.
func SharedOperator(name string) bool { return operators[name] }

// ordering are functions whose results over text depend on its collation, beyond whether two values are equal.
var ordering = words(`max min initcap lower upper casefold regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
regexp_split_to_array regexp_split_to_table regexp_substr substring to_char to_date to_number to_timestamp array_sort mode percentile_disc
width_bucket rank dense_rank percent_rank cume_dist`)

// orderingOperators are the operators among them.
var orderingOperators = words(`< <= > >= ~ ~* !~ !~* ~~* !~~* *< *<= *> *>= <@ @> && << >> &< &> -|-`)

// Orders reports whether a function's results over text depend on its order or its letters.
func Orders(name string) bool { return ordering[name] }

// OperatorOrders is Orders for operators.
func OperatorOrders(name string) bool { return orderingOperators[name] }

// texts are functions that may yield text.
var texts = words(`array_dims like_escape similar_escape similar_to_escape btrim chr concat concat_ws convert_from encode format initcap left lower lpad ltrim md5 overlay parse_ident quote_ident quote_literal
quote_nullable regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right
rpad rtrim split_part string_to_array string_to_table string_agg substr substring to_ascii to_hex to_bin to_oct translate unistr upper to_char array_to_string
json_array_elements_text json_each json_each_text json_extract_path_text json_object_keys json_typeof jsonb_array_elements_text jsonb_each jsonb_each_text
jsonb_extract_path_text jsonb_object_keys jsonb_pretty jsonb_typeof abbrev host casefold`)

// MakesText reports whether a function may yield text.
func MakesText(name string) bool { return texts[name] }
