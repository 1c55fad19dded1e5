package tests

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/pgtest"
)

// TestWirePostgres runs the scripts on relations that are plain or foreign with foreign tables of another Postgres.
func TestWirePostgres(t *testing.T) {
	home := hometest.Start(t)
	tmpl := template(t, home)
	other := hometest.Database(t, home)
	config, err := pgconn.ParseConfig(home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	var schemas int
	for _, path := range scripts(t) {
		if !pgtest.UsesTables(path) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			addr := startBoth(t, config)
			target := pgtest.Target{Name: "the proxy with tables of another Postgres", Addr: addr, Home: home.URL("postgres"), Template: tmpl}
			target.Foreign = func(_ context.Context, database string, tables []pgtest.Table) error {
				schemas++
				schema := fmt.Sprintf("wire%d", schemas)
				create := []string{"CREATE SCHEMA " + schema, "SET search_path = " + schema}
				for _, tb := range tables {
					create = append(create, tb.Create())
				}
				exec(t, other, create...)
				server := otherServer(t, other, ", updatable 'true'")
				for i := range server {
					server[i] = strings.Replace(server[i], "SERVER other", "SERVER "+schema, 1)
				}
				exec(t, proxyURL(addr, database), append(server, "IMPORT FOREIGN SCHEMA "+schema+" FROM SERVER "+schema+" INTO public")...)
				return nil
			}
			verifyWire(t, path, home, map[string]pgtest.Target{"postgres": target})
		})
	}
}
