package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/sluicedb/sluice/migrations"
)

// driver is golang-migrate's database.Driver over the session of the client that speaks the DDL. It neither opens nor
// ends a transaction. golang-migrate knows no context, so the driver carries the one of the statement it serves.
type driver struct {
	ctx context.Context
	x   Executor
}

// Open is not for us: a driver is made around a session.
func (d *driver) Open(string) (database.Driver, error) {
	return nil, errors.New("catalog: the migration driver has no URL")
}

// Close leaves the session to its owner.
func (d *driver) Close() error { return nil }

// Lock and Unlock do nothing: who runs migrations holds lockExtension to the end of the transaction.
func (d *driver) Lock() error   { return nil }
func (d *driver) Unlock() error { return nil }

// Run runs one migration.
func (d *driver) Run(migration io.Reader) error {
	script, err := io.ReadAll(migration)
	if err != nil {
		return err
	}
	return runScript(d.ctx, d.x, string(script))
}

// SetVersion makes the table first where it is missing, as migrate calls it before the first migration.
func (d *driver) SetVersion(version int, dirty bool) error {
	err := runScript(d.ctx, d.x, `CREATE SCHEMA IF NOT EXISTS sluice;
CREATE TABLE IF NOT EXISTS sluice.schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL);
GRANT SELECT ON sluice.schema_migrations TO PUBLIC;
TRUNCATE sluice.schema_migrations`)
	if err != nil || version == database.NilVersion {
		return err
	}
	_, err = d.x.Query(d.ctx, "INSERT INTO sluice.schema_migrations VALUES ($1, $2)",
		strconv.Itoa(version), strconv.FormatBool(dirty))
	return err
}

// Version returns NilVersion where no migration ran. A schema that a user made to look like ours does not count.
func (d *driver) Version() (version int, dirty bool, err error) {
	rows, err := d.x.Query(d.ctx, `SELECT pg_catalog.to_regclass('sluice.schema_migrations') FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
WHERE n.nspname OPERATOR(pg_catalog.=) 'sluice' AND r.rolsuper`)
	if err != nil || text(rows, 0, 0) == "" {
		return database.NilVersion, false, err
	}
	rows, err = d.x.Query(d.ctx, "SELECT version, dirty FROM sluice.schema_migrations")
	if err != nil || len(rows) == 0 {
		return database.NilVersion, false, err
	}
	version, err = strconv.Atoi(text(rows, 0, 0))
	return version, text(rows, 0, 1) == "t", err
}

// Drop removes schemas and wrappers and whatever still depends on them.
func (d *driver) Drop() error {
	return runScript(d.ctx, d.x, `DROP SCHEMA IF EXISTS sluice_handle CASCADE;
DROP SCHEMA IF EXISTS sluice_masked CASCADE;
DROP SCHEMA IF EXISTS sluice_cat CASCADE;
DROP FOREIGN DATA WRAPPER IF EXISTS `+wrapperList+` CASCADE;
DROP SCHEMA IF EXISTS sluice CASCADE`)
}

// migrateUp runs all migrations that are still to be run. Step by step, as golang-migrate leaves a goroutine behind
// when a migration fails and it has read the next one already.
func migrateUp(ctx context.Context, x Executor) error {
	m, err := newMigrate(ctx, x)
	if err != nil {
		return err
	}
	for err == nil {
		err = m.Steps(1)
	}
	sourceErr, _ := m.Close()
	if errors.Is(err, os.ErrNotExist) {
		return sourceErr
	}
	return err
}

func newMigrate(ctx context.Context, x Executor) (*migrate.Migrate, error) {
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return nil, err
	}
	return migrate.NewWithInstance("iofs", files, "home", &driver{ctx: ctx, x: x})
}

// newestMigration is the version that the migrations in this program lead to.
func newestMigration() (int, error) {
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return 0, err
	}
	defer files.Close()
	version, err := files.First()
	for err == nil {
		var next uint
		if next, err = files.Next(version); err == nil {
			version = next
		}
	}
	if !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("catalog: reading migrations: %w", err)
	}
	return int(version), nil
}
