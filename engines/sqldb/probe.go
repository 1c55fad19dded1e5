package sqldb

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Certifiable = (*Engine)(nil)

// Probes are statements by which the engine is certified.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	p, err := e.source.probes(ctx, e.texts)
	if err != nil {
		return p, pgerr.AtServer(e.server, err)
	}
	return p, nil
}

// mariaProbes count by tables of the sequence engine, which make a row as it is asked for.
var mariaProbes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT CAST(seq AS SIGNED) AS i, REPEAT('x', %d) AS s FROM seq_0_to_%d LIMIT %d", width, max(n-1, 0), n)
	},
	Blocking: "SELECT SUM(seq * 2) AS i, '' AS s FROM seq_0_to_1000000000000",
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT CASE WHEN seq < %d THEN CAST(seq AS SIGNED) ELSE 9223372036854775807 + CAST(seq AS SIGNED) END AS i, '' AS s FROM seq_0_to_100000000", n)
	},
	FailCode: "22003",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

func (m *mySQL) probes(ctx context.Context, ask asker) (engines.Probes, error) {
	p := mariaProbes
	rows, err := ask(ctx, "SELECT VERSION()")
	if err != nil {
		return p, err
	}
	version := value(rows[0][0])
	if !strings.Contains(version, "MariaDB") {
		return p, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "MySQL %s cannot be certified", version),
			"It has nothing that makes rows as they are asked for, as MariaDB's sequence engine does.")
	}
	if m.database == "" {
		return p, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "a server without option \"database\" cannot be certified"), "ALTER SERVER … OPTIONS (ADD database '…').")
	}
	p.Version = "MariaDB " + version
	return p, nil
}

func sqLiteSeries(n int64) string {
	return fmt.Sprintf("WITH RECURSIVE g(i) AS (SELECT 0 WHERE %d > 0 UNION ALL SELECT i + 1 FROM g LIMIT %d) ", n, n)
}

var sqLiteProbes = engines.Probes{
	Rows: func(n int64, width int) string {
		return sqLiteSeries(n) + fmt.Sprintf("SELECT i, substr(replace(hex(zeroblob(%d)), '0', 'x'), 1, %d) AS s FROM g", width/2+1, width)
	},
	Blocking: "WITH RECURSIVE g(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM g) SELECT max(i), '' FROM g",
	FailAt: func(n int64) string {
		return sqLiteSeries(100_000_000) + fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE abs(-9223372036854775807 - 1 - 0 * i) END AS i, '' AS s FROM g", n)
	},
	FailCode: "22003",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

func (l *sqLite) probes(ctx context.Context, ask asker) (engines.Probes, error) {
	p := sqLiteProbes
	rows, err := ask(ctx, "SELECT sqlite_version()")
	if err == nil {
		p.Version = "SQLite " + value(rows[0][0])
	}
	return p, err
}
