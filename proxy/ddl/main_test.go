package ddl_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// lake is a wrapper with options of every kind.
type lake struct{}

func (lake) Name() string { return "sluice_duckdb" }

func (lake) Options(kind engines.ObjectKind) []engines.Option {
	switch kind {
	case engines.ServerObject:
		return []engines.Option{
			{Name: "host", Required: true, Doc: "where the server listens"},
			{Name: "port", Check: port},
			{Name: "token"},
			{Name: "mode", Check: func(v string) error {
				if v != "ro" {
					return &pgconn.PgError{Severity: "ERROR", Code: "0A000", Message: "only ro for now"}
				}
				return nil
			}},
		}
	case engines.MappingObject:
		return []engines.Option{{Name: "user"}, {Name: "password", Check: func(v string) error {
			if len(v) < 3 {
				return errors.New("must have at least 3 characters")
			}
			return nil
		}}}
	case engines.TableObject:
		return []engines.Option{{Name: "schema_name"}, {Name: "table_name"}, {Name: "file"}}
	}
	return []engines.Option{{Name: "column_name"}}
}

func port(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 65535 {
		return errors.New("must be an integer from 1 to 65535")
	}
	return nil
}

func (lake) Check(kind engines.ObjectKind, options map[string]string) error {
	if kind == engines.TableObject && options["file"] != "" && options["table_name"] != "" {
		return errors.New("give either file or table_name")
	}
	return nil
}

func (lake) Open(context.Context, engines.Server) (engines.Engine, error) {
	return nil, errors.New("not for this test")
}

// wrappers are those that a proxy of these tests has.
var wrappers = map[string]engines.Wrapper{"sluice_duckdb": lake{}}

// say writes notices and an error as a golden file has them.
func say(notices []*pgconn.PgError, err error) string {
	var b strings.Builder
	for _, n := range notices {
		sayOne(&b, n)
	}
	var pe *pgconn.PgError
	switch {
	case errors.As(err, &pe):
		sayOne(&b, pe)
	case err != nil:
		fmt.Fprintf(&b, "not a Postgres error: %v\n", err)
	}
	return b.String()
}

func sayOne(b *strings.Builder, e *pgconn.PgError) {
	fmt.Fprintf(b, "%s %s: %s\n", e.Severity, e.Code, e.Message)
	if e.Detail != "" {
		fmt.Fprintf(b, "DETAIL: %s\n", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(b, "HINT: %s\n", e.Hint)
	}
}
