package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sluicedb/sluice/demo"
	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/proxy"
)

// demoFlags are the settings of the tour.
type demoFlags struct {
	once   bool
	listen string
	dir    string
}

func demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Take a guided tour on real data, then serve it",
		Long: `Demo runs a private Postgres as home, puts flights into a DuckDB database, weather into a Parquet file and airports
into home, and queries them together through a proxy. Each result is compared with what home answers over plain
tables with the same rows. Then it serves until Ctrl-C.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	cmd.Flags().BoolVar(&f.once, "once", false, "end after the tour: exit code 0 if every result is right")
	cmd.Flags().StringVar(&f.listen, "listen", defaultListen, "`ADDRESS` to listen on; with --once any free port by default")
	cmd.Flags().StringVar(&f.dir, "dir", "", "keep home and files in `DIR` (default: a temporary directory)")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if f.once && !cmd.Flags().Changed("listen") {
			f.listen = "127.0.0.1:0"
		}
	}
	return cmd
}

// run makes the stage, takes the tour and serves.
func (f demoFlags) run(ctx context.Context, out io.Writer) (err error) {
	dir, remove, err := f.directory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", f.listen, err)
	}
	defer func() { _ = listener.Close() }()
	drawn := newProgress(out)
	defer drawn.end()
	out = drawn
	_, _ = fmt.Fprintln(out, "Starting a private Postgres as home …")
	drawn.set("starting", 0, 0)
	own, err := embedded.Start(ctx, filepath.Join(dir, "home"), embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Stop()) }()
	config, err := pgconn.ParseConfig(own.URL("postgres"))
	if err != nil {
		return err
	}
	joins, err := federation(nil)
	if err != nil {
		return err
	}
	server, err := proxy.NewServer(proxy.Config{
		Home: config, Wrappers: wrappers(), Federation: joins, Version: buildVersion(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.WithoutCancel(ctx), listener) }()
	tour := demo.Config{HomeURL: own.URL("postgres"), ProxyURL: proxyURL(listener), Dir: dir, Out: out, Progress: drawn.set}
	err = f.perform(ctx, tour, listener)
	return errors.Join(err, endDemo(server), <-served)
}

// perform takes the tour and, unless it is for once, waits for Ctrl-C.
func (f demoFlags) perform(ctx context.Context, tour demo.Config, listener net.Listener) error {
	if err := demo.Prepare(ctx, tour); err != nil {
		return err
	}
	err := demo.Tour(ctx, tour)
	if ctx.Err() != nil {
		return nil // Ctrl-C during the tour
	}
	if err != nil {
		return fmt.Errorf("the tour failed:\n%w", err)
	}
	if f.once {
		return nil
	}
	tour.Progress("", 0, 0)
	_, _ = fmt.Fprintf(tour.Out, "\nServing until Ctrl-C. Your turn:\n\n  %s\n\n", psqlLine(listener.Addr().String(), demo.Database))
	<-ctx.Done()
	return nil
}

// endDemo ends what clients are still connected.
func endDemo(server *proxy.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// directory returns where the demo lives, and what removes it if it is temporary.
func (f demoFlags) directory() (dir string, remove func() error, err error) {
	if f.dir != "" {
		dir, err = filepath.Abs(f.dir)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		return dir, func() error { return nil }, err
	}
	dir, err = os.MkdirTemp("", "sluice-demo-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // home's server may run as another user
	}
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// proxyURL is how to connect to a listener from this machine.
func proxyURL(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err != nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort(host, port), Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}
