package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sluicedb/sluice/embedded"
)

// homeFlags say where home is.
type homeFlags struct {
	url string
	dir string
}

func (f *homeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "home", "", "`URL` of home: postgres://user@host:port/database?sslmode=…")
	cmd.Flags().StringVar(&f.dir, "embedded", "", "run a private Postgres in `DIR` as home (made on first use)")
}

// home is where statements go: a server somewhere, or one of our own.
type home struct {
	config *pgconn.Config
	own    *embedded.Home // nil for a server somewhere
}

// open finds home, and starts it if it is our own.
func (f homeFlags) open(ctx context.Context) (*home, error) {
	switch {
	case f.url != "" && f.dir != "":
		return nil, errors.New("both --home and --embedded are given: choose one")
	case f.dir != "":
		own, err := embedded.Start(ctx, f.dir, embedded.Options{})
		if err != nil {
			return nil, err
		}
		config, err := pgconn.ParseConfig(own.URL("postgres"))
		if err != nil {
			return nil, errors.Join(err, own.Stop())
		}
		return &home{config: config, own: own}, nil
	case f.url != "":
		config, err := pgconn.ParseConfig(f.url)
		if err != nil {
			return nil, fmt.Errorf("--home: %w", err)
		}
		return &home{config: config}, nil
	default:
		return nil, errors.New("no home: give --home URL of a Postgres server, or --embedded DIR to run a private one there")
	}
}

// ended is closed when a home of our own is gone; nil for a server somewhere.
func (h *home) ended() <-chan struct{} {
	if h.own == nil {
		return nil
	}
	return h.own.Done()
}

func (h *home) stop() error {
	if h.own == nil {
		return nil
	}
	return h.own.Stop()
}
