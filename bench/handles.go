package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// relay passes on connections to an address, and counts what goes through, both ways.
type relay struct {
	net.Listener
	to      string
	bytes   atomic.Int64
	mu      sync.Mutex
	open    []net.Conn
	closing bool
	wg      sync.WaitGroup
}

func newRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{Listener: l, to: to}
	r.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.pass(near, far)
		}
	})
	return r, nil
}

// pass copies both ways until either side ends.
func (r *relay) pass(near, far net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open = append(r.open, near, far); r.closing {
		_, _ = near.Close(), far.Close()
	}
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		r.wg.Go(func() {
			_, _ = io.Copy(way[1], io.TeeReader(way[0], r))
			_, _ = near.Close(), far.Close()
		})
	}
}

// Write counts bytes.
func (r *relay) Write(b []byte) (int, error) {
	r.bytes.Add(int64(len(b)))
	return len(b), nil
}

// close ends all connections.
func (r *relay) close() {
	_ = r.Close()
	r.mu.Lock()
	r.closing = true
	for _, c := range r.open {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// handles keeps results as tables at home and in DuckDB, and counts the bytes that the proxy takes and gives for it on the
// sockets of its client and of home.
func handles(ctx context.Context, r *rig, report *report) (err error) {
	if err := r.makeRecords(ctx, 20, featureCount); err != nil {
		return err
	}
	file := filepath.Join(r.work, "handles.duckdb")
	if err := makeLake(ctx, file, featureCount); err != nil {
		return err
	}
	home, err := newRelay(r.home.Addr())
	if err != nil {
		return err
	}
	defer home.close()
	p, err := r.startSluiceAt(ctx, strings.Replace(r.home.URL(database), r.home.Addr(), home.Addr().String(), 1))
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	front, err := newRelay(p.addr)
	if err != nil {
		return err
	}
	defer front.close()
	plain, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer plain.close()
	kept, err := connect(ctx, front.Addr().String(), database)
	if err != nil {
		return err
	}
	defer kept.close()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"CREATE SERVER keeper FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + file + "', read_only 'false', handles 'true')",
		"CREATE SCHEMA keeper", "IMPORT FOREIGN SCHEMA main FROM SERVER keeper INTO keeper",
	} {
		if err := kept.exec(ctx, sql); err != nil {
			return err
		}
	}
	k := &keeping{plain: plain, kept: kept, front: front, home: home}
	n := count(featureCount)
	return errors.Join(
		k.measure(ctx, r, report, "handle at home of "+n+" rows", "TABLE feature", "", "CREATE TABLE plain AS TABLE feature", "DROP TABLE plain"),
		k.measure(ctx, r, report, "handle in DuckDB of "+n+" rows", "SELECT * FROM keeper.large", "keeper", "", ""))
}

// keeping is what handles are made over.
type keeping struct {
	plain, kept *client
	front, home *relay
}

// measure makes a handle in turns with a plain table of the same rows, if sql says how, and reports the time and the bytes of each.
func (k *keeping) measure(ctx context.Context, r *rig, report *report, what, query, server, sql, undo string) error {
	var took [2][]float64
	most := 0.0
	for range r.turns {
		if sql != "" {
			d, err := k.plain.query(ctx, sql)
			if err == nil {
				err = k.plain.exec(ctx, undo)
			}
			if err != nil {
				return err
			}
			took[0] = append(took[0], d.total.Seconds())
		}
		before := k.front.bytes.Load() + k.home.bytes.Load()
		began := time.Now()
		if err := k.kept.exec(ctx, fmt.Sprintf("SELECT * FROM sluice.materialize('%s', server => nullif('%s', ''))", query, server)); err != nil {
			return err
		}
		took[1] = append(took[1], time.Since(began).Seconds())
		most = max(most, float64(k.front.bytes.Load()+k.home.bytes.Load()-before))
		if err := k.kept.exec(ctx, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles"); err != nil {
			return err
		}
	}
	times := line{what: what, values: [3]string{"", "", fmt.Sprintf("%.2f s", median(took[1]))}}
	if sql != "" {
		times.values[0], times.ratio = fmt.Sprintf("%.2f s", median(took[0])), fmt.Sprintf("%.2f of direct", median(ratios(took[1], took[0])))
	}
	report.add(times)
	report.add(line{what: what + ": through the proxy", values: [3]string{"", "", fmt.Sprintf("%.1f KiB", most/1024)}, goal: "< 64 KiB", reached: most < 64<<10})
	return nil
}
