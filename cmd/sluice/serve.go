package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sluicedb/sluice/proxy"
)

// serveFlags are the settings of a proxy.
type serveFlags struct {
	home    homeFlags
	tls     tlsFlags
	log     logFlags
	listen  []string
	clients clientFlags
	metrics string
	drain   time.Duration
	// federated are the bounds of the engine for statements over several servers, as server options.
	federated map[string]*string
}

func serveCommand() *cobra.Command { return new(serveFlags).command() }

// command makes the command that sets the flags and serves.
func (f *serveFlags) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve (--home URL | --embedded DIR)",
		Short: "Serve clients of a home",
		Long: `Serve listens for Postgres clients and answers them from home and from foreign tables.

Each flag can also be set in the environment (--tls-cert is SLUICE_TLS_CERT) and in a YAML file (--config; the key
is the flag's name). A flag wins over the environment, and the environment over the file.

SIGTERM and SIGINT: take no new clients, let sessions end for --drain, then end them; a second one ends them at once.
SIGHUP: read the files of TLS again.`,
		Example: `  sluice serve --home postgres://postgres@db.example.com/app --listen 0.0.0.0:6543
  sluice serve --embedded ./home
  sluice serve --config sluice.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := applySettings(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context())
		},
	}
	f.home.add(cmd)
	cmd.Flags().StringSliceVar(&f.listen, "listen", []string{defaultListen}, "`ADDRESS` to listen on: host:port, or the path of a unix socket (…/.s.PGSQL.PORT); may be given several times")
	f.tls.add(cmd)
	f.clients.add(cmd)
	f.log.add(cmd)
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "serve Prometheus metrics on this `ADDRESS`")
	f.federated = map[string]*string{
		"memory_limit":   cmd.Flags().String(federationFlags["memory_limit"], "1GB", "`SIZE` of the memory for joins over several servers; more spills to disk"),
		"temp_directory": cmd.Flags().String(federationFlags["temp_directory"], "", "`DIR` that they spill to (default: one below the system's for temporary files)"),
	}
	cmd.Flags().DurationVar(&f.drain, "drain", 30*time.Second, "sessions may go on for this `DURATION` after SIGTERM")
	addConfigFlag(cmd)
	return cmd
}

// run serves until ctx ends or home is gone.
func (f serveFlags) run(ctx context.Context) (err error) {
	log, err := f.log.logger(os.Stderr)
	if err != nil {
		return err
	}
	cert, err := f.tls.load()
	if err != nil {
		return err
	}
	joins, err := federation(f.federated)
	if err != nil {
		return err
	}
	listeners, err := listenAll(f.listen)
	if err != nil {
		return err
	}
	defer closeAll(listeners)
	home, err := f.home.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.stop()) }()
	server, err := proxy.NewServer(proxy.Config{
		Home: home.config, Wrappers: wrappers(), Federation: joins, TLS: cert.config(), TLSRequired: f.tls.mode == "require",
		ClientCert: cert.clientCert, LoginLimit: f.clients.logins, LoginTimeout: f.clients.timeout,
		KeepAlive: f.clients.keepAlive, UserTimeout: f.clients.userTimeout,
		Logger: log, Version: buildVersion(),
	})
	if err != nil {
		return err
	}
	aside, stop := context.WithCancel(ctx)
	defer stop()
	if err := serveMetrics(aside, f.metrics, server, log); err != nil {
		return errors.Join(err, server.Close())
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go reloadOnHangup(aside, hangup, cert, log)
	if home.own != nil {
		warnOpen(listeners, log)
	}
	log.Info("serving", "home", homeName(home), "listen", addresses(listeners), "version", buildVersion())
	return serveUntil(ctx, server, listeners, home, f.drain, log)
}

// serveUntil serves all listeners until ctx ends, then drains; a second signal or the end of drain ends all sessions.
func serveUntil(ctx context.Context, server *proxy.Server, listeners []net.Listener, home *home, drain time.Duration, log *slog.Logger) error {
	// The listeners outlive ctx: Shutdown closes them.
	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	for _, l := range listeners {
		group.Go(func() error { return server.Serve(failed, l) })
	}
	var lost error
	select {
	case <-ctx.Done():
	case <-failed.Done():
	case <-home.ended():
		lost = errors.New("the embedded home ended by itself; its postgres.log says why")
	}
	again, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	wait, cancel := context.WithTimeout(again, drain)
	defer cancel()
	if lost != nil {
		cancel()
	}
	log.Info("draining", "limit", drain.String())
	err := server.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		log.Info("ended the sessions that were left")
		err = nil
	}
	return errors.Join(lost, err, group.Wait())
}

// reloadOnHangup reads the files of TLS again at each signal until ctx ends.
func reloadOnHangup(ctx context.Context, hangup <-chan os.Signal, cert *certificate, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		if cert == nil {
			log.Info("nothing to reload: TLS is off")
			continue
		}
		if err := cert.reload(); err != nil {
			log.Error("the old TLS certificates stay in use", "error", err)
			continue
		}
		log.Info("reloaded the TLS certificates", "file", cert.cert)
	}
}

// warnOpen warns where others than this machine can reach an embedded home, which asks nobody for a password.
func warnOpen(listeners []net.Listener, log *slog.Logger) {
	for _, l := range listeners {
		if t, ok := l.Addr().(*net.TCPAddr); ok && !t.IP.IsLoopback() {
			log.Warn("an embedded home asks for no password: use --home where others can connect", "listen", t.String())
		}
	}
}

func homeName(h *home) string {
	if h.own != nil {
		return "embedded in " + h.own.Dir() + ", " + h.own.Addr()
	}
	return fmt.Sprintf("%s:%d", h.config.Host, h.config.Port)
}

func addresses(listeners []net.Listener) []string {
	var all []string
	for _, l := range listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}
