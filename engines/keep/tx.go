package keep

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// tx makes tables, and undoes it by dropping them.
type tx struct {
	server string
	rules  Rules
	store  Store
	made   []string // tables, also those that may not have come to be
	kept   map[string][]Column
	over   bool
}

var (
	_ engines.Tx    = (*tx)(nil)
	_ engines.Maker = (*tx)(nil)
)

// Begin returns a Tx that makes tables and does nothing else.
func Begin(server string, rules Rules, store Store) engines.Tx {
	return &tx{server: server, rules: rules, store: store, kept: map[string][]Column{}}
}

func (t *tx) usable() error {
	if t.over {
		return pgerr.New("25000", "the transaction on server %q is over", t.server)
	}
	return nil
}

// Open starts q, for which tables are there as soon as they are made.
func (t *tx) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	return t.store.Open(ctx, q)
}

// Make makes a table.
func (t *tx) Make(ctx context.Context, table string, columns []engines.Column) error {
	if err := t.usable(); err != nil {
		return err
	}
	kept, err := t.rules.Columns(columns)
	if err == nil {
		t.made = append(t.made, table)
		err = t.store.Create(ctx, table, kept)
	}
	if err != nil {
		return pgerr.AtServer(t.server, err)
	}
	t.kept[table] = kept
	return nil
}

// Fill makes a table of the rows of a query, which do not leave the server.
func (t *tx) Fill(ctx context.Context, table string, columns []engines.Column, q engines.Query) (rows int64, ok bool, err error) {
	if err := t.usable(); err != nil {
		return 0, false, err
	}
	filler, ok := t.store.(Filler)
	if !ok {
		return 0, false, nil
	}
	kept, err := t.rules.Columns(columns)
	if err == nil {
		t.made = append(t.made, table)
		rows, ok, err = filler.Fill(ctx, table, kept, q)
	}
	if err != nil {
		return 0, false, pgerr.AtServer(t.server, err)
	}
	if ok {
		t.kept[table] = kept
	}
	return rows, ok, nil
}

// Insert adds rows to a table that the transaction has made.
func (t *tx) Insert(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	table := target.Options["table_name"]
	kept, ok := t.kept[table]
	if !ok || target.Options["schema_name"] != "" {
		return 0, t.refuse(target)
	}
	var taken []Column
	for _, name := range columns {
		if i := slices.IndexFunc(kept, func(c Column) bool { return c.Name == name }); i >= 0 {
			taken = append(taken, kept[i])
		}
	}
	if len(taken) == 0 || len(taken) != len(columns) || len(taken) != len(rows.Fields()) {
		return 0, pgerr.New(pgerr.InternalError, "rows of %d fields are for %d columns, of which table %q has %d", len(rows.Fields()), len(columns), table, len(taken))
	}
	n, err := t.insert(ctx, table, taken, rows)
	return n, pgerr.AtServer(t.server, err)
}

func (t *tx) insert(ctx context.Context, table string, columns []Column, rows engines.Stream) (n int64, err error) {
	sink, err := t.store.Insert(ctx, table, columns)
	if err != nil {
		return 0, err
	}
	w := writer{sink: sink, rules: t.rules, batch: Batch{columns: len(columns)}}
	if err = w.copy(ctx, rows); err == nil {
		err = sink.End(ctx)
	}
	if err != nil {
		sink.Abort()
		return 0, err
	}
	return w.rows, nil
}

// writer brings rows into batches of the size that a store takes.
type writer struct {
	sink  Sink
	rules Rules
	batch Batch
	rows  int64
}

func (w *writer) copy(ctx context.Context, rows engines.Stream) error {
	for {
		b, err := rows.Next(ctx)
		if err == io.EOF {
			return w.flush(ctx)
		}
		if err != nil {
			return err
		}
		frames, ok := b.(engines.Frames)
		if !ok {
			return pgerr.New(pgerr.InternalError, "rows to be kept come as %T", b)
		}
		for data := frames.Data; len(data) > 0; {
			if data, err = w.batch.add(data); err != nil {
				return err
			}
			if w.full() {
				if err := w.flush(ctx); err != nil {
					return err
				}
			}
		}
	}
}

func (w *writer) full() bool {
	most := w.rules.BatchBytes
	if most == 0 {
		most = engines.BatchBytes
	}
	return w.batch.Size() >= most || w.rules.BatchRows > 0 && w.batch.Rows() >= w.rules.BatchRows
}

func (w *writer) flush(ctx context.Context) error {
	n := w.batch.Rows()
	if n == 0 {
		return nil
	}
	if err := w.sink.Write(ctx, &w.batch); err != nil {
		return err
	}
	w.rows += int64(n)
	w.batch.empty()
	return nil
}

// refuse says that a table is not one of the transaction's.
func (t *tx) refuse(target engines.Target) error {
	return pgerr.AtServer(t.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign table %q cannot be written to", target.Relation),
		"Server %q takes handles, and no other writes: write by a client of %s.", t.server, t.rules.Engine))
}

// Update refuses.
func (t *tx) Update(_ context.Context, target engines.Target, _ []string, _ engines.Stream) (int64, error) {
	return 0, t.refuse(target)
}

// Delete refuses.
func (t *tx) Delete(_ context.Context, target engines.Target, _ engines.Stream) (int64, error) {
	return 0, t.refuse(target)
}

// Truncate refuses.
func (t *tx) Truncate(_ context.Context, target engines.Target) error { return t.refuse(target) }

// Commit has the tables stay, which all can see already.
func (t *tx) Commit(context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	t.over = true
	return nil
}

// dropTime bounds how long a rollback waits for a server.
const dropTime = 10 * time.Second

// Rollback drops what was made.
func (t *tx) Rollback() error {
	if t.over {
		return nil
	}
	t.over = true
	ctx, stop := context.WithTimeout(context.Background(), dropTime)
	defer stop()
	var errs []error
	for _, table := range slices.Backward(t.made) {
		errs = append(errs, t.store.Forget(ctx, table))
	}
	return pgerr.AtServer(t.server, errors.Join(errs...))
}
