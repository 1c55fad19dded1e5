package trino

import (
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestDeclare says which types values of Postgres' are kept in.
func TestDeclare(t *testing.T) {
	e := &Engine{server: "s"}
	for typ, want := range map[string]string{
		"boolean": "boolean", "bigint": "bigint", "real": "real", "numeric(38,38)": "decimal(38,38)", "numeric(39,1)": "varchar", "numeric(3,-2)": "varchar", "numeric": "varchar",
		"character varying(5)": "varchar", "character(3)": "varchar", "date": "date", "timestamp with time zone": "timestamp(6) with time zone", "bytea": "varbinary",
		"timestamp(3) without time zone": "", "interval": "", "jsonb": "", "integer[]": "", "anyenum": "", "money": "",
	} {
		options, err := e.Declare([]engines.Column{{Name: "a", Type: typ}})
		if want == "" {
			if code(err) != "0A000" {
				t.Errorf("%s: %v, %v", typ, options, err)
			}
			continue
		}
		if err != nil || options[0]["remote_type"] != want {
			t.Errorf("%s: %v, %v; want %s", typ, options, err, want)
		}
	}
	if code(e.Keeps()) != "0A000" || (&Engine{handles: true}).Keeps() != nil {
		t.Error("what the option handles says is not heeded")
	}
}
