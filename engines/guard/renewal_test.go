package guard

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// rotating makes a guard of a fake whose password is in a file.
func rotating(t *testing.T, f *fake) (*Engine, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	e := New(new(Yard), f, 1, "far", func(o map[string]string) (map[string]string, error) {
		if o["password"] == "" {
			return o, nil
		}
		data, err := os.ReadFile(o["password"])
		if err != nil {
			return nil, pgerr.New(pgerr.UndefinedFile, "%v", err)
		}
		return map[string]string{"password": string(data)}, nil
	})
	t.Cleanup(func() { _ = e.Close() })
	e.Define(nil, map[string]string{"password": file})
	return e, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRotation opens the server anew when its password's file has changed: at once where the old one is refused, and after a while
// where nobody has refused it.
func TestRotation(t *testing.T) {
	f := &fake{password: "one"}
	e, file := rotating(t, f)
	write(t, file, "one")
	held := opens(t, t.Context(), e)
	write(t, file, "two")
	f.set(func() { f.password = "two" })
	_ = opens(t, t.Context(), e).Close()
	if h := e.Health(); h.State != OK || h.Error != nil {
		t.Errorf("%+v", h)
	}
	_ = held.Close()

	write(t, file, "three")
	f.set(func() { f.password = "" })
	e.mu.Lock()
	e.looked = e.looked.Add(-lookEvery)
	e.mu.Unlock()
	for range 2 {
		_ = opens(t, t.Context(), e).Close()
	}
	if got := f.opened; len(got) != 3 || got[0]+got[1]+got[2] != "onetwothree" || f.count(&f.closed) != 2 {
		t.Errorf("opened with %v, closed %d", got, f.closed)
	}
}

// TestRefusedLogin says so where there is no other password to try, and asks once for each statement.
func TestRefusedLogin(t *testing.T) {
	f := &fake{password: "other"}
	e, file := rotating(t, f)
	write(t, file, "wrong")
	if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "28P01" || f.count(&f.asked) != 1 {
		t.Errorf("asked %d times: %v", f.asked, err)
	}
	if h := e.Health(); h.State != Broken || h.Error.Code != "28P01" {
		t.Errorf("%+v", h)
	}
}

// TestSecretGone refuses statements while the file is gone, and has the server broken.
func TestSecretGone(t *testing.T) {
	e, file := rotating(t, &fake{})
	write(t, file, "one")
	_ = opens(t, t.Context(), e).Close()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.looked = time.Time{}
	e.mu.Unlock()
	for range 2 * limitsOf(nil).failures {
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != pgerr.UndefinedFile {
			t.Error(err)
		}
	}
	if h := e.Health(); h.State != Broken || h.Open || h.Error == nil || h.Error.Code != pgerr.UndefinedFile {
		t.Errorf("without its secret: %+v", h)
	}
	write(t, file, "one")
	_ = opens(t, t.Context(), e).Close()
	if h := e.Health(); h.State != OK || h.Error == nil {
		t.Errorf("with its secret: %+v", h)
	}
}

// TestClosedMeanwhile has a statement done with the new definition where the old one is closed under it.
func TestClosedMeanwhile(t *testing.T) {
	f := &fake{}
	e := guarded(t, f, nil)
	f.set(func() { f.during = func() { e.DefineServer(map[string]string{"host": "elsewhere"}) } })
	_ = opens(t, t.Context(), e).Close()
	if n := f.count(&f.asked); n != 1 || len(f.opened) != 2 {
		t.Errorf("%d statements at %d engines", n, len(f.opened))
	}
}
