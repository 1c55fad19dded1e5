package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// scramRole is the role that home asks for a password.
const (
	scramRole     = "bench_app"
	scramPassword = "bench"
)

// ways are those to log in by: directly, through a proxy that speaks to home in clear, and through one that does so with TLS.
const (
	loginDirect = iota
	loginClear
	loginTLS
	loginWays
)

// logins compares how long clients take to log in with TLS and SCRAM-SHA-256, one after another.
func logins(ctx context.Context, r *rig, report *report) (err error) {
	clear, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = clear.end(err) }()
	home, err := url.Parse(r.home.URL(database))
	if err != nil {
		return err
	}
	home.RawQuery = "sslmode=require"
	encrypted, err := r.startSluiceAt(ctx, home.String())
	if err != nil {
		return err
	}
	defer func() { err = encrypted.end(err) }()
	if err := r.makeRole(ctx, clear.addr); err != nil {
		return err
	}
	addrs := [loginWays]string{r.home.Addr(), clear.addr, encrypted.addr}
	var rates, medians [loginWays][]float64
	progress("connect: %d turns of %d logins each", r.turns, r.connects)
	for range r.turns {
		taken, err := r.loginTurn(ctx, addrs)
		if err != nil {
			return err
		}
		for i, seconds := range taken {
			rates[i] = append(rates[i], float64(len(seconds))/sum(seconds))
			medians[i] = append(medians[i], median(seconds))
		}
	}
	reportLogins(report, "login, TLS and SCRAM", loginClear, rates, medians)
	reportLogins(report, "login, TLS and SCRAM, TLS to home as well", loginTLS, rates, medians)
	return nil
}

// reportLogins adds the figures of one way. The goal is for what the client sees: one TLS against one.
func reportLogins(report *report, what string, way int, rates, medians [loginWays][]float64) {
	pair := func(figures [loginWays][]float64) [3][]float64 {
		return [3][]float64{direct: figures[loginDirect], sluice: figures[way]}
	}
	rate := median(ratios(rates[way], rates[loginDirect]))
	took := line{what: what + ": median time", values: values(pair(medians), milliseconds)}
	got := median(ratios(medians[way], medians[loginDirect]))
	if took.ratio = fmt.Sprintf("%.2f of direct", got); way == loginClear {
		took.goal, took.reached = "≤ 1.3", got <= 1.3
	}
	report.add(line{what: what + ": connections/s", values: values(pair(rates), count), ratio: fmt.Sprintf("%.2f of direct", rate)})
	report.add(took)
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.2f ms", seconds*1000) }

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// makeRole makes a role that logs in with a password, where the catalog lets the proxy see its verifier.
func (r *rig) makeRole(ctx context.Context, addr string) error {
	c, err := connect(ctx, addr, database)
	if err != nil {
		return err
	}
	defer c.close()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"DROP ROLE IF EXISTS " + scramRole,
		"CREATE ROLE " + scramRole + " LOGIN PASSWORD '" + scramPassword + "'",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// loginTurn logs in at each address in turns and returns the seconds that each login took.
func (r *rig) loginTurn(ctx context.Context, addrs [loginWays]string) (taken [loginWays][]float64, err error) {
	for range r.connects {
		for i, addr := range addrs {
			took, err := logIn(ctx, addr)
			if err != nil {
				return taken, err
			}
			taken[i] = append(taken[i], took.Seconds())
		}
	}
	return taken, nil
}

// logIn connects with TLS and a password, leaves, and returns how long the first of this took. It returns when the server
// has closed the connection, so that its farewell is not measured with the next login.
func logIn(ctx context.Context, addr string) (time.Duration, error) {
	config, err := loginConfig(addr)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	c, err := pgconn.ConnectConfig(ctx, config)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if _, ok := c.Conn().(*tls.Conn); !ok {
		err = fmt.Errorf("%s speaks no TLS", addr)
	}
	if cerr := c.Close(ctx); err == nil {
		err = cerr
	}
	<-c.CleanupDone()
	return took, err
}

func loginConfig(addr string) (*pgconn.Config, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	return pgconn.ParseConfig(fmt.Sprintf("host=%s port=%s dbname=%s user=%s password=%s sslmode=require require_auth=scram-sha-256",
		host, port, database, scramRole, scramPassword))
}
