package sqldb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/mariadbtest"
)

// textRows is a stream of one column's texts, so many times over, with a row a batch; between is called before each.
type textRows struct {
	texts   []string
	times   int
	between func()
}

func (r *textRows) Fields() []engines.Field { return make([]engines.Field, 1) }
func (r *textRows) Close() error            { return nil }

func (r *textRows) Next(context.Context) (engines.Batch, error) {
	if r.times == 0 {
		return nil, io.EOF
	}
	if r.times--; r.between != nil {
		r.between()
	}
	var f engines.Frames
	for _, v := range r.texts {
		f.Data = binary.BigEndian.AppendUint32(append(f.Data, 'D'), uint32(len(v)+10))
		f.Data = append(binary.BigEndian.AppendUint16(f.Data, 1), 0, 0, 0, 0)
		binary.BigEndian.PutUint32(f.Data[len(f.Data)-4:], uint32(len(v)))
		f.Data = append(f.Data, v...)
		f.Rows++
	}
	return f, nil
}

// keepers are engines that take handles.
func keepers(t testing.TB) map[string]*Engine {
	m, l := maria(t), lite(t)
	_, s := standIn(t)
	m.Options["handles"], l.Options["handles"], s.Options["handles"] = "true", "true", "true"
	m.Mapping = map[string]string{"user": mariadbtest.Admin, "password": mariadbtest.AdminPassword}
	stand, err := SQLServer{}.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stand.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]*Engine{"maria": open(t, m), "lite": open(t, l), "mssql": stand.(*Engine)}
}

// TestKeep makes tables, of which those that are committed stay, and refuses what would be another value.
func TestKeep(t *testing.T) {
	for name, e := range keepers(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			tx, err := e.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			columns := []engines.Column{{Name: "a `\" b", Type: "integer"}, {Name: "n", Type: "numeric(4,2)"}, {Name: "y", Type: "bytea"}}
			if err := tx.(engines.Maker).Make(ctx, "keep_1", columns); err != nil {
				t.Fatal(err)
			}
			target := engines.Target{Options: map[string]string{"table_name": "keep_1"}}
			if n, err := tx.Insert(ctx, target, []string{"a `\" b"}, &textRows{texts: []string{"7", "-8"}, times: 3000}); n != 6000 || err != nil {
				t.Fatalf("%d rows: %v", n, err)
			}
			if n, err := tx.Insert(ctx, target, []string{"y"}, &textRows{texts: []string{`\x`, `\x00ff27`}, times: 1}); n != 2 || err != nil {
				t.Fatalf("%d rows: %v", n, err)
			}
			k := e.source.keeping()
			bytes := map[bool]string{true: "max(y)", false: "group_concat(hex(y))"}[name == "mssql"]
			sums, err := e.texts(ctx, fmt.Sprintf("SELECT CAST(sum(%s) AS CHAR(9)), CAST(count(y) AS CHAR(9)), %s FROM %s", k.name("a `\" b"), bytes, k.table("keep_1")))
			if err != nil || strings.TrimSpace(value(sums[0][0])) != "-3000" || strings.TrimSpace(value(sums[0][1])) != "2" || !strings.HasSuffix(strings.ToUpper(value(sums[0][2])), "00FF27") {
				t.Errorf("%v: %v", sums, err)
			}
			if name != "lite" {
				for _, wrong := range []string{"NaN", "123.00"} {
					if _, err := tx.Insert(ctx, target, []string{"n"}, &textRows{texts: []string{wrong}, times: 1}); len(code(err)) != 5 || code(err)[:2] != "22" {
						t.Errorf("%s: %v", wrong, err)
					}
				}
			}
			if err := tx.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			keptAndGone(t, e)
		})
	}
}

// keptAndGone rolls back and drops tables of an engine that has table keep_1.
func keptAndGone(t *testing.T, e *Engine) {
	ctx := t.Context()
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tx.(engines.Maker).Make(ctx, "keep_2", []engines.Column{{Name: "a", Type: "text"}}), tx.Rollback()); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_"); err != nil || !slices.Equal(names, []string{"keep_1"}) {
		t.Errorf("%v: %v", names, err)
	}
	if err := errors.Join(e.Forget(ctx, "keep_1"), e.Forget(ctx, "keep_1")); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_"); err != nil || len(names) > 0 {
		t.Errorf("%v: %v", names, err)
	}
}

// hasty is a source that tells of connections which hurry.
type hasty struct {
	source
	hurried chan struct{}
}

func (h hasty) keeping() *keeping {
	k := h.source.keeping()
	writable := k.writable
	k.writable = func(ctx context.Context) (*connection, error) {
		c, err := writable(ctx)
		if err != nil {
			return nil, err
		}
		own := c.hurry
		c.hurry = func() {
			select {
			case h.hurried <- struct{}{}:
			default:
			}
			if own != nil {
				own()
			}
		}
		return c, nil
	}
	return k
}

// TestKeepCancelled cancels in the midst of rows, by which the connection is told not to wait for its server.
func TestKeepCancelled(t *testing.T) {
	for name, e := range keepers(t) {
		h := hasty{e.source, make(chan struct{}, 1)}
		e.source = h
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := e.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.(engines.Maker).Make(ctx, "keep_1", []engines.Column{{Name: "a", Type: "text"}}); err != nil {
			t.Fatal(err)
		}
		n := 0
		rows := &textRows{texts: []string{strings.Repeat("x", 1<<19)}, times: 1 << 20, between: func() {
			if n++; n == 8 {
				cancel()
			}
		}}
		if _, err := tx.Insert(ctx, engines.Target{Options: map[string]string{"table_name": "keep_1"}}, []string{"a"}, rows); code(err) != "57014" {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-h.hurried:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the connection does not hurry", name)
		}
		if err := tx.Rollback(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if names, err := e.Kept(t.Context(), "keep_"); err != nil || len(names) > 0 {
			t.Errorf("%s: %v: %v", name, names, err)
		}
	}
}
