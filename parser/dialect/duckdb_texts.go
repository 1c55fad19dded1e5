package dialect

// duckTexts are functions that search texts and put them together. Characters are code points to both; where DuckDB takes
// letters with their accents for one (reverse), home computes.
var duckTexts = Table{
	{Function, "strpos", takes(Equal, Equal), is(Plain(int4OID)), "CAST(strpos($1, $2) AS INTEGER)", "text_search"},
	{Function, "position", takes(Equal, Equal), is(Plain(int4OID)), "CAST(strpos($1, $2) AS INTEGER)", "text_search"},
	{Function, "replace", takes(Equal, Equal, Equal), textResult, "replace($1, $2, $3)", "text_search"},
	{Function, "translate", takes(Text, Text, Text), textResult, "translate($1, $2, $3)", "text_search"},
	{Function, "split_part", []Arg{{Class: Equal}, mark, part}, textResult, "split_part($1, $2, $3)", "text_search"},
	{Function, "ascii", takes(Text), is(Plain(int4OID)), "CAST(ascii($1) AS INTEGER)", "text_search"},

	{Function, "lpad", []Arg{{Class: Text}, width}, textResult, "lpad($1, $2, ' ')", "text_padding"},
	{Function, "rpad", []Arg{{Class: Text}, width}, textResult, "rpad($1, $2, ' ')", "text_padding"},
	{Function, "lpad", []Arg{{Class: Text}, width, mark}, textResult, "lpad($1, $2, $3)", "text_padding"},
	{Function, "rpad", []Arg{{Class: Text}, width, mark}, textResult, "rpad($1, $2, $3)", "text_padding"},

	{Function, "concat", takes(Unpadded, Unpadded), textResult, "concat($1, $2)", "text_joined"},
	{Function, "concat", takes(Unpadded, Unpadded, Unpadded), textResult, "concat($1, $2, $3)", "text_joined"},
	{Function, "concat", takes(Unpadded, Unpadded, Unpadded, Unpadded), textResult, "concat($1, $2, $3, $4)", "text_joined"},
	{Function, "concat", takes(Unpadded, Unpadded, Unpadded, Unpadded, Unpadded), textResult, "concat($1, $2, $3, $4, $5)", "text_joined"},
	{Function, "concat_ws", takes(Unpadded, Unpadded, Unpadded), textResult, "concat_ws($1, $2, $3)", "text_joined"},
	{Function, "concat_ws", takes(Unpadded, Unpadded, Unpadded, Unpadded), textResult, "concat_ws($1, $2, $3, $4)", "text_joined"},
}
