package catalog

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// Name is the name of a relation as a statement has it, decoded; Schema is empty where the statement names none.
type Name struct{ Schema, Name string }

// Facts are those of a session at one moment that decide how a statement is planned and run.
type Facts struct {
	Version     int64 // sluice.catalog_version: a snapshot of another version is stale
	Uncommitted bool  // the version was set by this session's own open transaction
	User        uint32
	SearchPath  string // current_schemas(true) in text form, good for comparing

	StatementTimeout, LockTimeout time.Duration // 0: none

	ReadOnly         bool // transaction_read_only
	ByteaOutput      string
	ExtraFloatDigits int
	TimeZone         string
	DateStyle        string
	IntervalStyle    string
	ClientEncoding   string
	Route            string // sluice.route, empty where it is not set
	OnFullScan       string // sluice.on_full_scan, likewise

	// FederationServer is sluice.federation_server, likewise, and Federates whether the user may use that server; empty where there is
	// none of the name.
	FederationServer, Federates string

	// MaxRows, MaxBytes and StatementBudget are the settings of the names sluice.max_rows and so on, likewise.
	MaxRows, MaxBytes, StatementBudget string
}

// factsSQL yields one row. All operators and types are qualified, as it runs under the client's search path; it reads what
// sluice.catalog_version does without that, as pg_dump forbids its session all views but Postgres' own.
const factsSQL = `SELECT v.version, v.uncommitted,
 pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid, pg_catalog.current_schemas(true),
 pg_catalog.current_setting('statement_timeout'), pg_catalog.current_setting('lock_timeout'),
 pg_catalog.current_setting('transaction_read_only'), pg_catalog.current_setting('bytea_output'),
 pg_catalog.current_setting('extra_float_digits'), pg_catalog.current_setting('TimeZone'),
 pg_catalog.current_setting('DateStyle'), pg_catalog.current_setting('IntervalStyle'),
 pg_catalog.current_setting('sluice.route', true), pg_catalog.current_setting('client_encoding'),
 pg_catalog.current_setting('sluice.on_full_scan', true), pg_catalog.current_setting('sluice.max_rows', true),
 pg_catalog.current_setting('sluice.max_bytes', true), pg_catalog.current_setting('sluice.statement_budget', true),
 pg_catalog.current_setting('sluice.federation_server', true), CASE WHEN pg_catalog.current_setting('sluice.federation_server', true) OPERATOR(pg_catalog.<>) '' THEN (
  SELECT pg_catalog.has_server_privilege(f.oid, 'USAGE') FROM pg_catalog.pg_foreign_server f
  WHERE f.srvname OPERATOR(pg_catalog.=) pg_catalog.current_setting('sluice.federation_server', true)::pg_catalog.name) END, ARRAY[`

const versionSQL = ` FROM (SELECT pg_catalog.sum(step)::pg_catalog.int8 AS version,
 pg_catalog.bool_or(changed_by IS NOT DISTINCT FROM pg_catalog.pg_current_xact_id_if_assigned()) AS uncommitted
 FROM sluice.catalog_change HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0) v`

// ResolveSQL returns the statement of Resolve. The names stand in it: home plans a statement without parameters once.
func ResolveSQL(names []Name) string {
	var b strings.Builder
	b.WriteString(factsSQL)
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		path := identifier(n.Name)
		if n.Schema != "" {
			path = identifier(n.Schema) + "." + path
		}
		b.WriteString("pg_catalog.to_regclass(" + literal(path) + ")::pg_catalog.oid")
	}
	b.WriteString("]::pg_catalog.oid[]" + versionSQL)
	return b.String()
}

// Resolve says which relations names mean in q's session, 0 where home knows none, and the facts of that session, in one
// round trip. The extension must be installed: NotInstalled recognises the error where it is not.
func Resolve(ctx context.Context, q Querier, names []Name) ([]uint32, *Facts, error) {
	rows, err := q.Query(ctx, ResolveSQL(names))
	if err != nil {
		return nil, nil, err
	}
	if len(rows) == 0 {
		return nil, nil, pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "table sluice.catalog_change is empty"),
			"Run ALTER EXTENSION sluice UPDATE as a superuser.")
	}
	facts, err := readFacts(rows[0])
	if err != nil || len(names) == 0 {
		return nil, facts, err
	}
	oids := make([]uint32, len(names))
	for i, oid := range strings.Split(strings.Trim(text(rows, 0, 20), "{}"), ",") {
		if oid == "NULL" {
			continue
		}
		n, err := strconv.ParseUint(oid, 10, 32)
		if err != nil {
			return nil, nil, err
		}
		oids[i] = uint32(n)
	}
	return oids, facts, nil
}

func readFacts(row []*string) (*Facts, error) {
	at := func(i int) string { return text([][]*string{row}, 0, i) }
	version, err := strconv.ParseInt(at(0), 10, 64)
	if err != nil {
		return nil, err
	}
	user, err := strconv.ParseUint(at(2), 10, 32)
	if err != nil {
		return nil, err
	}
	digits, err := strconv.Atoi(at(8))
	if err != nil {
		return nil, err
	}
	f := &Facts{
		Version: version, Uncommitted: at(1) == "t", User: uint32(user), SearchPath: at(3),
		ReadOnly: at(6) == "on", ByteaOutput: at(7), ExtraFloatDigits: digits,
		TimeZone: at(9), DateStyle: at(10), IntervalStyle: at(11), Route: at(12), ClientEncoding: at(13), OnFullScan: at(14),
		MaxRows: at(15), MaxBytes: at(16), StatementBudget: at(17), FederationServer: at(18), Federates: at(19),
	}
	if f.StatementTimeout, err = duration(at(4)); err != nil {
		return nil, err
	}
	f.LockTimeout, err = duration(at(5))
	return f, err
}

// duration reads a time setting as SHOW prints it ("0", "250ms", "5s", "1min", "2h", "1d").
func duration(setting string) (time.Duration, error) {
	digits := 0
	for digits < len(setting) && setting[digits] >= '0' && setting[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseInt(setting[:digits], 10, 64)
	if err != nil {
		return 0, err
	}
	units := map[string]time.Duration{
		"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
		"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
	unit, ok := units[setting[digits:]]
	if !ok {
		return 0, pgerr.New(pgerr.InternalError, "unknown unit of time in setting %q", setting)
	}
	return time.Duration(n) * unit, nil
}

// NotInstalled reports whether err came of schema sluice being gone from a database where it was.
func NotInstalled(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) &&
		(pe.Code == pgerr.UndefinedTable && pe.Message == `relation "sluice.catalog_change" does not exist` ||
			pe.Code == "42883" && pe.Message == "function sluice.snapshot() does not exist" ||
			pe.Code == "3F000" && pe.Message == `schema "sluice" does not exist`)
}
