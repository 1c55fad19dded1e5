package clickhousetest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a server that runs. Users are default and analyst, whose password is "secret", and reader, whose password is
// "read", and who may not set anything. Its time zone is not UTC.
type Server struct {
	Host, Port string // of the native protocol
	HTTP       string // port of the HTTP interface
}

// addressEnv tells children of a test process where the server is.
const addressEnv = "SLUICE_TEST_CLICKHOUSE"

var shared struct {
	sync.Mutex
	begun  bool
	server *Server
	life   io.Closer // the server runs until this is closed, be it with the process
	err    error
}

// Start returns the server of this test process, which the first call starts; the test is skipped where there is none to be had.
func Start(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.begun {
		shared.begun = true
		shared.server, shared.life, shared.err = start()
	}
	var reason unavailable
	switch {
	case errors.As(shared.err, &reason):
		tb.Skipf("no ClickHouse: %v", reason.error)
	case shared.err != nil:
		tb.Fatalf("no ClickHouse for tests: %v", shared.err)
	}
	return shared.server
}

// unavailable is why the server cannot be had on this machine.
type unavailable struct{ error }

func start() (*Server, io.Closer, error) {
	if words := strings.Fields(os.Getenv(addressEnv)); len(words) == 3 {
		return &Server{Host: words[0], Port: words[1], HTTP: words[2]}, nil, nil
	}
	unpacked, err := root()
	if err != nil {
		return nil, nil, unavailable{err}
	}
	dir, err := os.MkdirTemp("", "sluice-clickhouse-")
	if err != nil {
		return nil, nil, err
	}
	s, life, err := launch(unpacked, dir)
	if err != nil {
		return nil, nil, err
	}
	return s, life, os.Setenv(addressEnv, s.Host+" "+s.Port+" "+s.HTTP)
}

// startTimeout bounds the start on a busy machine.
const startTimeout = time.Minute

// script runs the server until its own standard input ends, and leaves nothing behind.
const script = `"$0" --config-file="$1/config.xml" >"$1/log" 2>&1 & read -r _; kill -9 $!; wait $!; rm -rf "$1"`

// launch runs the server in a directory.
func launch(unpacked, dir string) (*Server, io.Closer, error) {
	ports, err := freePorts()
	if err == nil {
		err = configure(dir, ports)
	}
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("sh", "-c", script, filepath.Join(unpacked, binary), dir)
	var where []string
	for _, l := range libraries {
		where = append(where, filepath.Join(unpacked, l))
	}
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(where, ":"))
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	s := &Server{Host: "127.0.0.1", Port: ports[0], HTTP: ports[1]}
	for end := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) { // it tells nobody that it is ready
		if _, err = s.ask("SELECT 1"); err == nil {
			return s, life, nil
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, nil, errors.Join(fmt.Errorf("the server does not answer: %w\n%s", err, said), life.Close())
		}
	}
}

// freePorts returns two ports that nobody listens on.
func freePorts() (ports [2]string, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer l.Close()
		if _, ports[i], err = net.SplitHostPort(l.Addr().String()); err != nil {
			return ports, err
		}
	}
	return ports, nil
}

const serverConfig = `<yandex><logger><level>warning</level><console>1</console></logger><listen_host>127.0.0.1</listen_host>
<tcp_port>%s</tcp_port><http_port>%s</http_port><path>%s/</path><tmp_path>%[3]s/tmp/</tmp_path><users_config>%[3]s/users.xml</users_config>
<mark_cache_size>5368709</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
<timezone>Europe/Berlin</timezone></yandex>`

const userConfig = `<yandex><profiles><default><max_query_size>33554432</max_query_size>
<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default><reader><readonly>1</readonly></reader></profiles>
<users>%s</users><quotas><default/></quotas></yandex>`

func configure(dir string, ports [2]string) error {
	var users strings.Builder
	for _, u := range [][3]string{{"default", "", "default"}, {"analyst", "secret", "default"}, {"reader", "read", "reader"}} {
		fmt.Fprintf(&users, "<%[1]s><password>%[2]s</password><networks><ip>127.0.0.1</ip></networks><profile>%[3]s</profile><quota>default</quota></%[1]s>", u[0], u[1], u[2])
	}
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "tmp"), 0o755),
		os.WriteFile(filepath.Join(dir, "config.xml"), fmt.Appendf(nil, serverConfig, ports[0], ports[1], dir), 0o644),
		os.WriteFile(filepath.Join(dir, "users.xml"), fmt.Appendf(nil, userConfig, users.String()), 0o644),
	)
}

// Running says how many statements of Sluice the server runs.
func (s *Server) Running(tb testing.TB) int {
	tb.Helper()
	answer, err := s.ask("SELECT count() FROM system.processes WHERE query_id LIKE 'sluice-%'")
	if err != nil {
		tb.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(answer))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// Run runs statements, each on its own.
func (s *Server) Run(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := s.ask(sql); err != nil {
			tb.Fatalf("%.200s: %v", sql, err)
		}
	}
}

// ask returns what the server answers to a statement, as tabs between values.
func (s *Server) ask(sql string) (string, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Post("http://"+net.JoinHostPort(s.Host, s.HTTP)+"/", "text/plain", strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(body)))
	}
	return string(body), err
}
