package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/engines"
)

func checkCommand() *cobra.Command {
	var f homeFlags
	var timeout time.Duration
	var certified string
	cmd := &cobra.Command{
		Use:   "check (--home URL | --embedded DIR) [--certify SERVER]",
		Short: "Say whether home, catalog and every foreign server answer",
		Long: `Check connects to home as serve would, and looks at the catalog and the foreign servers of each database. It prints
one line for each, with the remedy where something is wrong, and ends with exit code 1 if anything is.

With --certify it looks at that server alone, in every database that has it: whether its engine streams, cancels and fails as
it promises. That reads no table, takes up to some minutes, and fills sluice.engine_capabilities.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := applySettings(cmd); err != nil {
				return err
			}
			drawn := newProgress(cmd.OutOrStdout())
			defer drawn.end()
			c := checker{out: drawn, timeout: timeout, certify: certified, wrappers: map[string]engines.Wrapper{}}
			for _, w := range wrappers() {
				c.wrappers[w.Name()] = w
			}
			return c.run(cmd.Context(), f)
		},
	}
	f.add(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Second, "each answer may take this `DURATION`")
	cmd.Flags().StringVar(&certified, "certify", "", "certify this foreign `SERVER`")
	addConfigFlag(cmd)
	return cmd
}

// checker prints a line for each thing looked at and remembers whether one failed.
type checker struct {
	out      *progress
	timeout  time.Duration
	certify  string // the only server to look at, which is certified
	wrappers map[string]engines.Wrapper
	failed   bool
	// looked is how many databases and servers were looked at, of those that are known to be there.
	looked, known int64
	found         bool // the server to certify was
}

// look says that something is looked at now.
func (c *checker) look() {
	c.out.set("checking", c.looked, c.known)
	c.looked++
}

// ok and fail print one line each.
func (c *checker) ok(what, detail string) { _, _ = fmt.Fprintf(c.out, "ok    %s: %s\n", what, detail) }

// A remedy that is empty is one that the message says.
func (c *checker) fail(what string, err error, remedy string) {
	c.failed = true
	var pe *pgconn.PgError
	text := oneLine(err.Error())
	if errors.As(err, &pe) {
		text = pe.Message
		if pe.Detail != "" {
			text += ": " + oneLine(pe.Detail)
		}
		if pe.Hint != "" {
			remedy = pe.Hint
		}
	}
	if remedy != "" {
		text += " → " + remedy
	}
	_, _ = fmt.Fprintf(c.out, "FAIL  %s: %s\n", what, text)
}

// several is a number of things.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// oneLine joins the lines of a message, each once.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

// run looks at everything. Its error is errSaid where a line has said it.
func (c *checker) run(ctx context.Context, f homeFlags) (err error) {
	config, stop, err := homeToCheck(ctx, f)
	if err != nil {
		c.fail("home", err, "")
		return errSaid
	}
	defer func() { err = errors.Join(err, stop()) }()
	c.checkHome(ctx, config)
	if c.failed {
		return errSaid
	}
	return nil
}

// homeToCheck finds home; an embedded one that is served now is asked where it is.
func homeToCheck(ctx context.Context, f homeFlags) (*pgconn.Config, func() error, error) {
	if f.url == "" && f.dir != "" {
		if url, ok := embedded.RunningURL(f.dir, "postgres"); ok {
			config, err := pgconn.ParseConfig(url)
			return config, func() error { return nil }, err
		}
	}
	h, err := f.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return h.config, h.stop, nil
}

// checkHome looks at the server and at each of its databases.
func (c *checker) checkHome(ctx context.Context, config *pgconn.Config) {
	what := fmt.Sprintf("home %s:%d", config.Host, config.Port)
	conn, err := c.connect(ctx, config, config.Database)
	if err != nil {
		c.fail(what, err, "see that the server runs and that --home names its host, port, user and database")
		return
	}
	defer closeQuietly(conn)
	c.ok(what, "PostgreSQL "+conn.ParameterStatus("server_version")+", as "+config.User)
	databases, err := c.databases(ctx, conn)
	if err != nil {
		c.fail(what, err, "see that the role may read pg_database")
		return
	}
	installed := 0
	c.known = int64(len(databases))
	for _, database := range databases {
		c.look()
		if c.checkDatabase(ctx, config, database) {
			installed++
		}
	}
	if c.certify != "" && !c.found {
		c.fail("server "+c.certify, errors.New("there is no such server"), "name one of sluice.servers")
	}
	if installed == 0 {
		c.fail("catalog", errors.New("not installed in any database"),
			"connect to a database through sluice serve, as a superuser, and say CREATE EXTENSION sluice")
	}
}

// databases lists those that the account may connect to.
func (c *checker) databases(ctx context.Context, conn *pgconn.PgConn) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	rows, err := session{conn}.Query(ctx, `SELECT datname FROM pg_database
WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT') ORDER BY datname`)
	var names []string
	for _, row := range rows {
		names = append(names, *row[0])
	}
	return names, err
}

// checkDatabase looks at the catalog and the servers of one database, and says whether the catalog is installed there.
func (c *checker) checkDatabase(ctx context.Context, config *pgconn.Config, database string) bool {
	what := "database " + database
	conn, err := c.connect(ctx, config, database)
	if err != nil {
		c.fail(what, err, "see pg_hba.conf and the database's connection limit")
		return false
	}
	defer closeQuietly(conn)
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	installed, newest, err := catalog.Versions(ctx, session{conn})
	switch {
	case err != nil:
		c.fail(what, err, "see that schema sluice is as CREATE EXTENSION sluice made it")
		return true
	case installed == 0:
		return false
	case installed < newest:
		c.fail(what, fmt.Errorf("catalog has version %d, this binary %d", installed, newest),
			"connect to it through sluice serve, as a superuser, and say ALTER EXTENSION sluice UPDATE")
	case installed > newest:
		c.fail(what, fmt.Errorf("catalog has version %d, this binary %d", installed, newest), "use the newest binary")
	}
	snapshot, err := catalog.Load(ctx, session{conn})
	if err != nil {
		c.fail(what, err, "connect to it through sluice serve, as a superuser, and say ALTER EXTENSION sluice UPDATE")
		return true
	}
	if installed == newest {
		c.checkAccount(ctx, session{conn}, database, config.User)
		c.ok(what, fmt.Sprintf("catalog version %d, %s, %s", installed, several(len(snapshot.Servers), "server"), several(len(snapshot.Relations), "relation")))
	}
	c.known += int64(len(snapshot.Servers))
	for _, server := range sortedServers(snapshot) {
		c.look()
		if c.certify != "" {
			if server.Name == c.certify {
				c.found = true
				c.certifyServer(context.WithoutCancel(ctx), session{conn}, database, server)
			}
			continue
		}
		c.checkServer(ctx, session{conn}, database, server)
	}
	return true
}

// connect connects as serve would, within the time that an answer may take.
func (c *checker) connect(ctx context.Context, config *pgconn.Config, database string) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	config = config.Copy()
	config.Database = database
	config.RuntimeParams["application_name"] = "sluice check"
	return pgconn.ConnectConfig(ctx, config)
}

func closeQuietly(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
