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

	life io.Closer // it runs until this is closed, be it with the process
}

// instance is a server that the first test starts which wants it, for all of its process and the children of that.
type instance struct {
	env   string // tells children where the server is
	begin func() (*Server, error)

	sync.Mutex
	begun  bool
	server *Server
	err    error
}

var debian = instance{env: "SLUICE_TEST_CLICKHOUSE", begin: beginDebian}

// Start returns the server of this test process, which the first call starts; the test is skipped where there is none to be had.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return debian.start(tb)
}

func (i *instance) start(tb testing.TB) *Server {
	tb.Helper()
	i.Lock()
	defer i.Unlock()
	if !i.begun {
		i.begun = true
		i.server, i.err = i.find()
	}
	var reason unavailable
	switch {
	case errors.As(i.err, &reason):
		tb.Skipf("no ClickHouse: %v", reason.error)
	case i.err != nil:
		tb.Fatalf("no ClickHouse for tests: %v", i.err)
	}
	return i.server
}

// unavailable is why the server cannot be had on this machine.
type unavailable struct{ error }

func (i *instance) find() (*Server, error) {
	if words := strings.Fields(os.Getenv(i.env)); len(words) == 3 {
		return &Server{Host: words[0], Port: words[1], HTTP: words[2]}, nil
	}
	s, err := i.begin()
	if err == nil {
		err = os.Setenv(i.env, s.Host+" "+s.Port+" "+s.HTTP)
	}
	return s, err
}

func beginDebian() (*Server, error) {
	unpacked, err := root()
	if err != nil {
		return nil, unavailable{err}
	}
	dir, err := os.MkdirTemp("", "sluice-clickhouse-")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts()
	if err == nil {
		err = configure(dir, ports, experimental)
	}
	if err != nil {
		return nil, err
	}
	var where []string
	for _, l := range libraries {
		where = append(where, filepath.Join(unpacked, l))
	}
	return launch(dir, ports, []string{"LD_LIBRARY_PATH=" + strings.Join(where, ":")}, filepath.Join(unpacked, binary), "--config-file="+filepath.Join(dir, config))
}

// startTimeout bounds the start on a busy machine.
const startTimeout = time.Minute

// script runs a server until its own standard input ends, and leaves nothing behind.
const script = `dir=$0; "$@" >"$dir/log" 2>&1 & read -r _; kill -9 $!; wait $!; rm -rf "$dir"`

// launch runs a server in a directory until the process ends, and returns when it answers.
func launch(dir string, ports [2]string, environment []string, command ...string) (*Server, error) {
	cmd := exec.Command("sh", append([]string{"-c", script, dir}, command...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &Server{Host: host, Port: ports[0], HTTP: ports[1], life: life}
	for end := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) { // it tells nobody that it is ready
		if _, err = s.ask("SELECT 1"); err == nil {
			return s, nil
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, errors.Join(fmt.Errorf("the server does not answer: %w\n%s", err, said), life.Close())
		}
	}
}

const (
	host   = "127.0.0.1"
	zone   = "Europe/Berlin"
	config = "config.xml"
)

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
<timezone>` + zone + `</timezone></yandex>`

const userConfig = `<yandex><profiles><default><max_query_size>33554432</max_query_size>%s</default><reader><readonly>1</readonly></reader></profiles>
<users>%s</users><quotas><default/></quotas></yandex>`

// experimental is a setting that the old server has dictionaries with, and that a current one does not know.
const experimental = "<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type>"

func configure(dir string, ports [2]string, settings string) error {
	var users strings.Builder
	for _, u := range [][3]string{{"default", "", "default"}, {"analyst", "secret", "default"}, {"reader", "read", "reader"}} {
		fmt.Fprintf(&users, "<%[1]s><password>%[2]s</password><networks><ip>127.0.0.1</ip></networks><profile>%[3]s</profile><quota>default</quota></%[1]s>", u[0], u[1], u[2])
	}
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "tmp"), 0o755),
		os.WriteFile(filepath.Join(dir, config), fmt.Appendf(nil, serverConfig, ports[0], ports[1], dir), 0o644),
		os.WriteFile(filepath.Join(dir, "users.xml"), fmt.Appendf(nil, userConfig, settings, users.String()), 0o644),
	)
}

// Running says how many statements of Sluice the server runs.
func (s *Server) Running(tb testing.TB) int {
	tb.Helper()
	answer, err := s.ask("SELECT count() FROM system.processes WHERE query_id LIKE 'sluice-%' OR query LIKE '/* sluice %'") // without a tag, or with one
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
	r, err := client.Post("http://"+net.JoinHostPort(s.Host, s.HTTP)+"/?user=default", "text/plain", strings.NewReader(sql))
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
