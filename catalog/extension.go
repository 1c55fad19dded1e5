package catalog

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/sql"
)

// ExtensionName is the name by which CREATE EXTENSION knows us.
const ExtensionName = "sluice"

// Wrappers are the foreign-data wrappers that the extension creates.
var Wrappers = []string{
	"sluice_postgres", "sluice_duckdb", "sluice_clickhouse", "sluice_bigquery", "sluice_snowflake", "sluice_databricks",
	"sluice_trino", "sluice_mssql", "sluice_sql",
}

var wrapperList = strings.Join(Wrappers, ", ")

// extensionLock is an advisory lock that one CREATE, ALTER or DROP EXTENSION sluice holds to the end of its transaction.
const extensionLock = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('extension sluice', 0))"

// InstallOptions are what CREATE EXTENSION sluice may say.
type InstallOptions struct {
	IfNotExists bool
	Schema      string // empty where not given
	Version     string // empty where not given
}

// Extension returns what runs node at home where node is about extension sluice: CREATE, ALTER … UPDATE or DROP
// EXTENSION; nil where it is not, or is something that home itself refuses well enough. The rules for x are those of
// Install.
func Extension(node *pg_query.Node) func(context.Context, Executor) (string, []*pgconn.PgError, error) {
	switch n := node.GetNode().(type) {
	case *pg_query.Node_CreateExtensionStmt:
		if n.CreateExtensionStmt.Extname != ExtensionName {
			return nil
		}
		return func(ctx context.Context, x Executor) (string, []*pgconn.PgError, error) {
			o, err := installOptions(n.CreateExtensionStmt)
			if err != nil {
				return "", nil, err
			}
			return Install(ctx, x, o)
		}
	case *pg_query.Node_AlterExtensionStmt:
		if n.AlterExtensionStmt.Extname != ExtensionName {
			return nil
		}
		return func(ctx context.Context, x Executor) (string, []*pgconn.PgError, error) {
			options, err := stringOptions(n.AlterExtensionStmt.Options)
			if err != nil {
				return "", nil, err
			}
			return Update(ctx, x, options["new_version"])
		}
	case *pg_query.Node_DropStmt:
		return dropCommand(n.DropStmt)
	}
	return nil
}

func dropCommand(n *pg_query.DropStmt) func(context.Context, Executor) (string, []*pgconn.PgError, error) {
	if n.RemoveType != pg_query.ObjectType_OBJECT_EXTENSION {
		return nil
	}
	ours := false
	for _, o := range n.Objects {
		ours = ours || o.GetString_().GetSval() == ExtensionName
	}
	if !ours {
		return nil
	}
	return func(ctx context.Context, x Executor) (string, []*pgconn.PgError, error) {
		if len(n.Objects) > 1 {
			return "", nil, pgerr.Hint(
				pgerr.New(pgerr.FeatureNotSupported, "cannot drop extension \"sluice\" together with other extensions"),
				"Drop each with a statement of its own.")
		}
		return Drop(ctx, x, n.MissingOk, n.Behavior == pg_query.DropBehavior_DROP_CASCADE)
	}
}

func installOptions(n *pg_query.CreateExtensionStmt) (InstallOptions, error) {
	options, err := stringOptions(n.Options)
	return InstallOptions{
		IfNotExists: n.IfNotExists, Schema: options["schema"], Version: options["new_version"],
	}, err
}

func stringOptions(list []*pg_query.Node) (map[string]string, error) {
	options := make(map[string]string, len(list))
	for _, o := range list {
		e := o.GetDefElem()
		if _, twice := options[e.GetDefname()]; twice {
			return nil, pgerr.New(pgerr.SyntaxError, "conflicting or redundant options")
		}
		options[e.GetDefname()] = e.GetArg().GetString_().GetSval()
	}
	return options, nil
}

// Install is CREATE EXTENSION sluice: it creates the schemas, wrappers and functions in the database that x is
// connected to. x must be inside a transaction block (which the Session opens where the client has none), so that
// nothing is left of an install that failed. It returns the command tag and notices for the client.
func Install(ctx context.Context, x Executor, o InstallOptions) (tag string, notices []*pgconn.PgError, err error) {
	if err := lockExtension(ctx, x); err != nil {
		return "", nil, err
	}
	version, err := installedVersion(ctx, x)
	if err != nil {
		return "", nil, err
	}
	if version != database.NilVersion {
		if o.IfNotExists {
			return "CREATE EXTENSION", []*pgconn.PgError{
				notice(pgerr.DuplicateObject, "extension \"sluice\" already exists, skipping"),
			}, nil
		}
		return "", nil, pgerr.New(pgerr.DuplicateObject, "extension \"sluice\" already exists")
	}
	if err := checkInstall(ctx, x, o); err != nil {
		return "", nil, err
	}
	return "CREATE EXTENSION", nil, withSettings(ctx, x, func() error { return bring(ctx, x) })
}

// checkInstall refuses what Postgres refuses, in its words.
func checkInstall(ctx context.Context, x Executor, o InstallOptions) error {
	if err := checkVersion(o.Version); err != nil {
		return err
	}
	if ok, err := superuser(ctx, x); err != nil {
		return err
	} else if !ok {
		return pgerr.Hint(
			pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create extension \"sluice\""),
			"Must be superuser to create this extension.")
	}
	if o.Schema != "" && o.Schema != "sluice" {
		return pgerr.New(pgerr.FeatureNotSupported,
			"extension \"sluice\" must be installed in schema \"sluice\"")
	}
	// Whoever owns the schema could replace what stands in it, so it must be made by us.
	rows, err := x.Query(ctx, `SELECT nspname FROM pg_catalog.pg_namespace
WHERE nspname OPERATOR(pg_catalog.=) ANY ('{sluice,sluice_cat,sluice_handle}'::pg_catalog.name[]) ORDER BY nspname`)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return pgerr.Hint(pgerr.New("42P06", "schema %q already exists", text(rows, 0, 0)),
			"Extension \"sluice\" creates this schema itself. Drop or rename the one that is there.")
	}
	return nil
}

// bring brings schema and functions to the newest version and tells all proxies.
func bring(ctx context.Context, x Executor) error {
	if err := migrateUp(ctx, x); err != nil {
		return pgerr.From(err)
	}
	if err := runScripts(ctx, x, sql.FS); err != nil {
		return pgerr.From(err)
	}
	_, err := x.Query(ctx, "SELECT sluice.bump_catalog_version()")
	return err
}

// Update is ALTER EXTENSION sluice UPDATE [TO version]: it runs the migrations that are new, and the functions' text in
// any case. The rules for x are those of Install.
func Update(ctx context.Context, x Executor, to string) (tag string, notices []*pgconn.PgError, err error) {
	if err := lockExtension(ctx, x); err != nil {
		return "", nil, err
	}
	version, err := installedVersion(ctx, x)
	if err != nil {
		return "", nil, err
	}
	newest, err := newestMigration()
	if err != nil {
		return "", nil, err
	}
	if version == database.NilVersion {
		if there, err := hasSchema(ctx, x); err != nil || !there {
			return "", nil, cmp.Or(err, notThere())
		}
	}
	if err := checkOwner(ctx, x); err != nil {
		return "", nil, err
	}
	if version == database.NilVersion {
		if err := fill(ctx, x, newest); err != nil {
			return "", nil, err
		}
	}
	if version > newest {
		return "", nil, pgerr.Hint(
			pgerr.New(pgerr.ObjectNotInPrerequisite,
				"extension \"sluice\" has version \"%d\" in this database, this proxy knows none above \"%d\"", version, newest),
			"Connect through the newest proxy.")
	}
	if err := checkVersion(to); err != nil {
		return "", nil, err
	}
	if version == newest {
		notices = append(notices, notice("00000", fmt.Sprintf(
			"version \"%d\" of extension \"sluice\" is already installed", version)))
	}
	return "ALTER EXTENSION", notices, withSettings(ctx, x, func() error { return bring(ctx, x) })
}

// hasSchema reports whether all that the extension makes is there, whatever its tables hold.
func hasSchema(ctx context.Context, x Executor) (bool, error) {
	rows, err := x.Query(ctx, installedSQL)
	return text(rows, 0, 0) == "1", err
}

// fill puts back the rows that a dump of the schema alone leaves out. Which version it was dumped from nobody has noted, so
// it is taken for the newest.
func fill(ctx context.Context, x Executor, version int) error {
	if _, err := x.Query(ctx, "INSERT INTO sluice.catalog_change (step) SELECT extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000 WHERE NOT EXISTS (SELECT FROM sluice.catalog_change)"); err != nil {
		return err
	}
	return (&driver{ctx: ctx, x: x}).SetVersion(version, false)
}

// checkVersion accepts the only version that this program can install.
func checkVersion(version string) error {
	newest, err := newestMigration()
	if err != nil || version == "" || version == strconv.Itoa(newest) {
		return err
	}
	return pgerr.New(pgerr.InvalidParameter,
		"extension \"sluice\" has no installation script nor update path for version %q", version)
}

func lockExtension(ctx context.Context, x Executor) error {
	_, err := x.Query(ctx, extensionLock)
	return err
}

func installedVersion(ctx context.Context, x Executor) (int, error) {
	version, dirty, err := (&driver{ctx: ctx, x: x}).Version()
	if err == nil && dirty {
		err = pgerr.Hint(
			pgerr.New(pgerr.ObjectNotInPrerequisite, "migration %d of extension \"sluice\" was left half done", version),
			"It was run outside of Sluice. Mend the schema, then set sluice.schema_migrations.dirty to false.")
	}
	return version, err
}

func superuser(ctx context.Context, x Executor) (bool, error) {
	rows, err := x.Query(ctx, `SELECT rolsuper FROM pg_catalog.pg_roles
WHERE rolname OPERATOR(pg_catalog.=) current_user`)
	return text(rows, 0, 0) == "t", err
}

// checkOwner lets superusers through, who alone can run what an update may hold.
func checkOwner(ctx context.Context, x Executor) error {
	if ok, err := superuser(ctx, x); err != nil || ok {
		return err
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of extension sluice")
}

func notThere() error {
	return pgerr.New(pgerr.UndefinedObject, "extension \"sluice\" does not exist")
}

// notice returns a message of severity NOTICE.
func notice(code, message string) *pgconn.PgError {
	return &pgconn.PgError{Severity: "NOTICE", SeverityUnlocalized: "NOTICE", Code: code, Message: message}
}
