package catalog

import (
	"context"

	"github.com/sluicedb/sluice/pgerr"
)

// scriptSettings are those that our scripts rely on, whatever the client has set.
var scriptSettings = [][2]string{
	{"search_path", "pg_catalog, pg_temp"},
	{"client_min_messages", "warning"},
	{"standard_conforming_strings", "on"},
	{"quote_all_identifiers", "off"},
	{"transform_null_equals", "off"},
	{"check_function_bodies", "on"},
}

// withSettings runs f under scriptSettings and then sets back what the client had. When f fails nothing is set back:
// the client's transaction has failed, and its end does that.
func withSettings(ctx context.Context, x Executor, f func() error) error {
	before := make([]string, len(scriptSettings))
	for i, s := range scriptSettings {
		rows, err := x.Query(ctx, "SELECT pg_catalog.current_setting($1)", s[0])
		if err != nil {
			return err
		}
		before[i] = text(rows, 0, 0)
	}
	for _, s := range scriptSettings {
		if err := setLocal(ctx, x, s[0], s[1]); err != nil {
			return err
		}
	}
	// A local setting lasts to the end of the transaction: where it is gone there is none, and half an extension would
	// be left by an error.
	rows, err := x.Query(ctx, "SELECT pg_catalog.current_setting('search_path')")
	if err != nil {
		return err
	}
	if text(rows, 0, 0) != scriptSettings[0][1] {
		return pgerr.New(pgerr.InternalError, "the scripts of extension \"sluice\" must run inside a transaction block")
	}
	if err := f(); err != nil {
		return err
	}
	for i, s := range scriptSettings {
		if err := setLocal(ctx, x, s[0], before[i]); err != nil {
			return err
		}
	}
	return nil
}

func setLocal(ctx context.Context, x Executor, name, value string) error {
	_, err := x.Query(ctx, "SELECT pg_catalog.set_config($1, $2, true)", name, value)
	return err
}
