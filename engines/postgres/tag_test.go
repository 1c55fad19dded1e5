package postgres

import (
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestTag shows at the server on whose behalf a session works, and no longer when another statement names nobody.
func TestTag(t *testing.T) {
	e := open(t, server(t, map[string]string{"application_name": "lake"}))
	const sql = "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()"
	for range 2 {
		for _, c := range []struct {
			tag  engines.Tag
			name string
		}{
			{engines.Tag{}, "lake"},
			{engines.Tag{Role: "o'hara", ID: "ab-1"}, "lake id=ab-1 role=o%27hara"},
			{engines.Tag{Role: "o'hara", ID: "ab-1"}, "lake id=ab-1 role=o%27hara"},
			{engines.Tag{Role: "alice", ID: "ab-2"}, "lake id=ab-2 role=alice"},
		} {
			if got := values(t, e, engines.Query{SQL: sql, Tag: c.tag}); got[0][0] != c.name {
				t.Errorf("%+v is shown as %q", c.tag, got)
			}
		}
	}
	if n := e.Idle(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// TestTagAfterLeaving has statements tagged after one with the same tag that failed behind its first rows, was left or was cancelled.
func TestTagAfterLeaving(t *testing.T) {
	e := open(t, server(t, nil))
	tag := engines.Tag{Role: "alice", ID: "a-1"}
	for _, sql := range []string{"SELECT 1/(100000-i) FROM generate_series(1, 200000) i", "SELECT 1/(i-100000) FROM generate_series(100000, 200000) i"} {
		for _, drain := range []bool{true, false} {
			if got := values(t, e, engines.Query{SQL: "SELECT 1", Tag: engines.Tag{ID: "b-1"}}); got[0][0] != "1" {
				t.Fatal(got)
			}
			s, err := e.Open(t.Context(), engines.Query{SQL: sql, Tag: tag})
			for err == nil && drain {
				_, err = s.Next(t.Context())
			}
			if s != nil {
				_ = s.Close()
			}
			if drain && code(err) != "22012" {
				t.Errorf("%s: %v", sql, err)
			}
			if got := values(t, e, engines.Query{SQL: "SELECT current_setting('application_name')", Tag: tag}); got[0][0] != "sluice id=a-1 role=alice" {
				t.Errorf("%q behind %s", got, sql)
			}
		}
	}
	if n := e.Idle(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// TestTagAfterFailure has statements tagged in a transaction that has failed, and after it.
func TestTagAfterFailure(t *testing.T) {
	e := open(t, server(t, map[string]string{"updatable": "true"}))
	for i := range 2 {
		tx, err := e.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tag := engines.Tag{Role: "alice", ID: string(rune('a' + i))}
		for _, c := range [][2]string{{"SELECT 1/0", "22012"}, {"SELECT 1", "25P02"}} {
			s, err := tx.Open(t.Context(), engines.Query{SQL: c[0], Tag: engines.Tag{ID: tag.ID + c[1][:1]}})
			if err == nil {
				_, err = s.Next(t.Context())
				_ = s.Close()
			}
			if code(err) != c[1] {
				t.Errorf("%s: %v", c[0], err)
			}
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		const sql = "SELECT current_setting('application_name')"
		if got := values(t, e, engines.Query{SQL: sql, Tag: tag}); got[0][0] != "sluice id="+tag.ID+" role=alice" {
			t.Errorf("%q", got)
		}
	}
}
