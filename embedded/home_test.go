package embedded_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/embedded"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("EMBEDDED_TEST_CHILD"); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// child starts a home and waits to be killed.
func child(dir string) {
	h, err := embedded.Start(context.Background(), dir, quick)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(h.URL("postgres"))
	<-h.Done()
}

var quick = embedded.Options{Settings: map[string]string{"fsync": "off"}}

// homeDir makes a directory that the server's account can reach, which testing's own is not.
func homeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-embedded-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func startHome(t *testing.T, dir string, opts embedded.Options) *embedded.Home {
	t.Helper()
	h, err := embedded.Start(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// ask returns the only value of a statement.
func ask(t *testing.T, url, sql string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var answer string
	if err := conn.QueryRow(ctx, sql).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

func TestHome(t *testing.T) {
	dir := homeDir(t)
	h := startHome(t, dir, quick)
	for sql, want := range map[string]string{
		"SELECT current_user":  "postgres",
		"SHOW server_encoding": "UTF8",
		"SHOW shared_buffers":  "128MB",
		"SHOW max_connections": "200",
		"SHOW fsync":           "off",
		"SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user": "true",
		"SELECT datcollate FROM pg_database WHERE datname = 'postgres'":    "C.UTF-8",
	} {
		if got := ask(t, h.URL("postgres"), sql); got != want {
			t.Errorf("%s = %s, want %s", sql, got, want)
		}
	}
	_, port, err := net.SplitHostPort(h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(port); err != nil || n >= 32768 {
		t.Errorf("port %s is in the range of outgoing ports", port)
	}
	if got := ask(t, fmt.Sprintf("host=%s port=%s user=postgres database=postgres", h.SocketDir(), port), "SELECT '1'"); got != "1" {
		t.Errorf("over the socket: %s", got)
	}
	if url, ok := embedded.RunningURL(dir, "postgres"); !ok || url != h.URL("postgres") {
		t.Errorf("running at %s (%t), want %s", url, ok, h.URL("postgres"))
	}
	if url, ok := embedded.RunningURL(t.TempDir(), "postgres"); ok {
		t.Errorf("an empty directory has a home running at %s", url)
	}
	log, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil || !strings.Contains(string(log), "ready to accept connections") {
		t.Errorf("postgres.log says %q (%v)", log, err)
	}
}

func TestReopenKeepsData(t *testing.T) {
	dir := homeDir(t)
	h := startHome(t, dir, quick)
	conn, err := pgx.Connect(t.Context(), h.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE TABLE kept AS SELECT 'yes' AS v", "ALTER SYSTEM SET work_mem = '5MB'"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// The session stays open: a stop does not wait for clients.
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(context.Background())
	if err := h.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	h = startHome(t, dir, quick)
	if got := ask(t, h.URL("postgres"), "SELECT v FROM kept"); got != "yes" {
		t.Errorf("kept = %s", got)
	}
	if got := ask(t, h.URL("postgres"), "SHOW work_mem"); got != "5MB" {
		t.Errorf("work_mem = %s, want what ALTER SYSTEM set", got)
	}
}

func TestDirInUse(t *testing.T) {
	dir := homeDir(t)
	startHome(t, dir, quick)
	_, err := embedded.Start(t.Context(), dir, quick)
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("second start says %v", err)
	}
}

func TestStalePIDFile(t *testing.T) {
	dir := homeDir(t)
	h := startHome(t, dir, quick)
	pidFile := filepath.Join(dir, "data", "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	// A pid that lives but is no postmaster of this cluster: this test's own.
	lines := strings.SplitN(string(text), "\n", 2)
	for _, pid := range []string{strconv.Itoa(os.Getpid()), "", "4194303"} {
		if err := os.WriteFile(pidFile, []byte(pid+"\n"+lines[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		h := startHome(t, dir, quick)
		if err := h.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPortGiven(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().(*net.TCPAddr).Port
	_, err = embedded.Start(t.Context(), homeDir(t), embedded.Options{Port: taken})
	if err == nil || !strings.Contains(err.Error(), "port was taken") {
		t.Errorf("start on a port in use says %v", err)
	}
}

func TestBadSetting(t *testing.T) {
	_, err := embedded.Start(t.Context(), homeDir(t), embedded.Options{Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), `unrecognized configuration parameter "no_such_setting"`) {
		t.Errorf("start says %v", err)
	}
}

func TestForeignDirectory(t *testing.T) {
	dir := homeDir(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.Start(t.Context(), dir, quick)
	want := "holds no Postgres cluster"
	if os.Geteuid() == 0 {
		want = "belongs to root"
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("start says %v, want %q", err, want)
	}
}

func TestUnreachableDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as someone else")
	}
	closed := homeDir(t) // mode 0700, root's
	dir := filepath.Join(closed, "home")
	_, err := embedded.Start(t.Context(), dir, quick)
	if err == nil || !strings.Contains(err.Error(), closed+" is closed") || !strings.Contains(err.Error(), "chmod o+x") {
		t.Errorf("start says %v", err)
	}
}

func TestCanceledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := homeDir(t)
	if h, err := embedded.Start(ctx, dir, quick); err == nil {
		t.Errorf("start under a canceled context gave %v", h.Addr())
	}
	startHome(t, dir, quick) // the directory is as good as new
}

// TestKilledProxy kills the process of a home without warning: its server ends too, and the directory can be used.
func TestKilledProxy(t *testing.T) {
	dir := homeDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EMBEDDED_TEST_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatalf("the child said nothing: %v", err)
	}
	url := strings.TrimSpace(string(buf[:n]))
	pid, err := strconv.Atoi(ask(t, url, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	deadline := time.Now().Add(30 * time.Second)
	for syscall.Kill(pid, 0) == nil {
		if time.Now().After(deadline) {
			t.Fatal("the server outlives its proxy")
		}
		time.Sleep(10 * time.Millisecond)
	}
	startHome(t, dir, quick)
}
