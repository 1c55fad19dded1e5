package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// errSaid ends a command with exit code 1 when its output has said why.
var errSaid = errors.New("already said")

func main() {
	// A reader of our output that leaves (… | head) must not keep us from ending servers and removing what is temporary.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(os.Stderr, "sluice:", err)
		}
		stop()
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sluice",
		Short: "Foreign tables for any Postgres, without an extension",
		Long: `Sluice is a proxy in front of an ordinary Postgres ("home"). Clients connect to it as to Postgres, and
foreign tables stand beside home's own: on DuckDB databases, on Parquet, CSV and JSON files, on other Postgres servers,
ClickHouse, Trino, BigQuery, Snowflake, Databricks, SQL Server, MariaDB, MySQL and SQLite.

Try it:         sluice demo
Use it:         sluice serve --home postgres://postgres@db.example.com/app
                psql -h 127.0.0.1 -p 6543 -d app`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(serveCommand(), demoCommand(), checkCommand(), versionCommand())
	return cmd
}
