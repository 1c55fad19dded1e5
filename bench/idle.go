package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"
)

// idleWait is how long the proxy is given to return memory by itself.
const idleWait = 30 * time.Second

// idleClients measures what a client costs that has run one statement and waits.
func idleClients(ctx context.Context, r *rig, report *report) error {
	if err := r.makeItem(ctx); err != nil {
		return err
	}
	for _, way := range []struct {
		what string
		tls  *tls.Config
	}{{"plain", nil}, {"TLS", &tls.Config{InsecureSkipVerify: true}}} {
		progress("idle: %d clients, %s", r.idle, way.what)
		each, err := r.idleMemory(ctx, way.tls)
		if err != nil {
			return err
		}
		report.add(line{what: fmt.Sprintf("%d idle clients, %s: memory each", r.idle, way.what),
			values: [3]string{"", "", fmt.Sprintf("%.1f KiB", each/1024)}, goal: "≤ 40 KiB", reached: each <= 40<<10})
	}
	report.note("Memory of idle clients is VmRSS of a proxy %v after the last of them has run one statement on a home table, less that of the proxy with its first client.", idleWait)
	return nil
}

func (r *rig) makeItem(ctx context.Context) error {
	c, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer c.close()
	return c.exec(ctx, "CREATE TABLE IF NOT EXISTS item AS SELECT 1 AS id, 'one' AS name")
}

// idleMemory returns the memory that a fresh proxy holds for each of its idle clients but the first.
func (r *rig) idleMemory(ctx context.Context, secure *tls.Config) (each float64, err error) {
	p, err := r.startSluice(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = p.end(err) }()
	var clients []*client
	defer func() {
		for _, c := range clients {
			c.close()
		}
	}()
	var before float64
	for i := range r.idle + 1 {
		c, err := dial(ctx, p.addr, database, secure)
		if err != nil {
			return 0, err
		}
		clients = append(clients, c)
		d, err := c.query(ctx, "SELECT id, name FROM item")
		if err != nil {
			return 0, err
		}
		if d.rows != 1 {
			return 0, fmt.Errorf("table item yielded %d rows", d.rows)
		}
		c.buf = nil
		if i > 0 {
			continue
		}
		if before, err = p.resident(); err != nil {
			return 0, err
		}
	}
	select {
	case <-time.After(idleWait):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := p.resident()
	return (after - before) / float64(r.idle), err
}
