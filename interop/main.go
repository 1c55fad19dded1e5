package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	sluice string
	root   string // of the checkout
	only   string
	write  bool
	keep   string
	jobs   int
}

func flags() *settings {
	s := &settings{}
	flag.StringVar(&s.sluice, "sluice", "bin/sluice", "the `binary` to run")
	flag.StringVar(&s.root, "root", ".", "`directory` of the checkout")
	flag.StringVar(&s.only, "only", "", "`clients` to run by the names of their directories, with commas between (default all)")
	flag.BoolVar(&s.write, "write", false, "write the rows of docs/clients.md in place of comparing them")
	flag.StringVar(&s.keep, "keep", "", "existing `directory` to keep what each run printed in")
	flag.IntVar(&s.jobs, "jobs", 2, "clients that run at the same time")
	flag.Parse()
	return s
}

// wants reports whether a client is to be run.
func (s *settings) wants(c *client) bool {
	return s.only == "" || slices.Contains(strings.Split(s.only, ","), c.key())
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flags()); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

// run installs and runs the clients, prints the table, and returns an error for any difference.
func run(ctx context.Context, s *settings) (err error) {
	began := time.Now()
	all, err := findClients(s.root)
	if err != nil {
		return err
	}
	accepted, err := readAccepted(s.root)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(c *client) bool { return !s.wants(c) })
	if len(chosen) == 0 {
		return fmt.Errorf("no client is called %s", s.only)
	}
	installAll(ctx, chosen)
	installed := time.Since(began)
	r, err := newRig(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	verdicts := r.runAll(ctx, chosen, accepted, s)
	if err := ctx.Err(); err != nil {
		return err
	}
	progress("")
	fmt.Print(table(rowsOf(verdicts), nil))
	progress("\nInstalls %.0f s, runs %.0f s.", installed.Seconds(), (time.Since(began) - installed).Seconds())
	return conclude(s, all, verdicts, accepted)
}

// conclude brings docs/clients.md up to date, or checks that it is, and returns an error if anything was not as wanted.
func conclude(s *settings, all []*client, verdicts []*verdict, accepted []acceptance) error {
	var failed []string
	for _, v := range verdicts {
		if !v.passed() {
			failed = append(failed, v.client.key())
		}
	}
	var err error
	if len(failed) > 0 {
		err = fmt.Errorf("not as at home: %s", strings.Join(failed, ", "))
	}
	if s.write {
		return errors.Join(err, writeDocument(s.root, all, verdicts, accepted))
	}
	return errors.Join(err, checkDocument(s.root, verdicts, s.only == ""))
}

// progress says what is going on, on standard error.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// binary is the path of the proxy's program.
func (s *settings) binary() (string, error) {
	if filepath.IsAbs(s.sluice) {
		return s.sluice, nil
	}
	return filepath.Abs(filepath.Join(s.root, s.sluice))
}
