package trino

import (
	"fmt"
	"maps"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/trinotest"
)

// TestRealSession finds at the cluster what options say of a session.
func TestRealSession(t *testing.T) {
	s := server(t)
	maps.Copy(s.Options, map[string]string{"schema": "tiny", "session_properties": "join_distribution_type=BROADCAST, task_concurrency=2"})
	e := open(t, s)
	_, rows, err := answer(t.Context(), e, engines.Query{SQL: "SELECT current_user, current_catalog, current_schema, current_timezone(), name FROM nation WHERE nationkey = 3",
		Tag: engines.Tag{Role: "alice", ID: "7-a"}})
	if err != nil || fmt.Sprint(rows) != "[[analyst tpch tiny UTC CANADA]]" {
		t.Errorf("%v %v", rows, err)
	}
	if found := trinotest.Start(t).Ask(t, `SELECT DISTINCT "user" FROM system.runtime.queries WHERE source = 'sluice'`); fmt.Sprint(found) != "[[analyst]]" {
		t.Errorf("statements of Sluice are run by %v", found)
	}
	for want, options := range map[string]map[string]string{
		"57014": {"max_execution_time": "1"},
		"22023": {"session_properties": "no_such_property=1"},
		"3D000": {"catalog": "nope", "session_properties": "nope.x=1"},
		"42501": {"role": "nope"},
	} {
		limited := s
		limited.Options = maps.Clone(s.Options)
		maps.Copy(limited.Options, options)
		if _, _, err := answer(t.Context(), open(t, limited), engines.Query{SQL: probes.Blocking}); code(err) != want {
			t.Errorf("%v: %v, want %s", options, err, want)
		}
	}
}

// TestRealParameters binds values that nothing in the SQL may take for its own, and casts them.
func TestRealParameters(t *testing.T) {
	e := open(t, server(t))
	odd := "it''s ' \\ \n $1 ? \" -- /* é 😀"
	var args []*string
	for _, v := range []string{"-9223372036854775808", "12345678.90", "2024-02-29", "2024-02-29 12:34:56.123456", "00112233-4455-6677-8899-aabbccddeeff", "t", "1e-300", odd} {
		args = append(args, &v)
	}
	args = append(args, nil)
	_, rows, err := answer(t.Context(), e, engines.Query{Args: args,
		SQL: "SELECT CAST($1 AS BIGINT), CAST($2 AS DECIMAL(10,2)), CAST($3 AS DATE), CAST($4 AS TIMESTAMP(6)), CAST($5 AS UUID), CAST($6 AS BOOLEAN), CAST($7 AS DOUBLE), $8, '$8', CAST($9 AS VARCHAR), $8"})
	want := "[[-9223372036854775808 12345678.9 2024-02-29 2024-02-29T12:34:56.123456 ABEiM0RVZneImaq7zN3u/w== true 1e-300 " + odd + " $8 (null) " + odd + "]]"
	if err != nil || fmt.Sprint(rows) != want {
		t.Errorf("%v %v\nwant %s", rows, err, want)
	}
	bad := "x"
	if _, _, err := answer(t.Context(), e, engines.Query{SQL: "SELECT CAST($1 AS BIGINT)", Args: []*string{&bad}}); code(err) != "22P02" {
		t.Errorf("a text for a number: %v", err)
	}
	with := "WITH FUNCTION twice(x bigint) RETURNS bigint RETURN x * 2 SELECT twice(CAST($1 AS BIGINT))"
	if _, rows, err := answer(t.Context(), e, engines.Query{SQL: with, Args: args[5:6]}); code(err) != "22P02" {
		t.Errorf("a function of the statement's own: %v %v", rows, err)
	}
	seven := "7"
	if _, rows, err := answer(t.Context(), e, engines.Query{SQL: with, Args: []*string{&seven}}); err != nil || fmt.Sprint(rows) != "[[14]]" {
		t.Errorf("a function of the statement's own: %v %v", rows, err)
	}
}
