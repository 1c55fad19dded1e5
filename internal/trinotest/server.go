package trinotest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/registry"
)

// Server is a server that runs, without passwords: whoever asks says who he is. Its catalogs are tpch and memory. A statement that it is
// not asked about for ten seconds it forgets.
type Server struct{ Host, Port string }

// Address is where it listens.
func (s *Server) Address() string { return net.JoinHostPort(s.Host, s.Port) }

// portEnv tells children of a test process where the server is.
const portEnv = "SLUICE_TEST_TRINO"

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
	registry.Need(tb)
	shared.Lock()
	defer shared.Unlock()
	if !shared.begun {
		shared.begun = true
		shared.server, shared.life, shared.err = start()
	}
	var reason unavailable
	switch {
	case errors.As(shared.err, &reason):
		tb.Skipf("no Trino: %v", reason.error)
	case shared.err != nil:
		tb.Fatalf("no Trino for tests: %v", shared.err)
	}
	return shared.server
}

// unavailable is why the server cannot be had on this machine.
type unavailable struct{ error }

func start() (*Server, io.Closer, error) {
	if port := os.Getenv(portEnv); port != "" {
		return &Server{Host: "127.0.0.1", Port: port}, nil, nil
	}
	java, err := jdk()
	if err != nil {
		return nil, nil, unavailable{err}
	}
	unpacked, err := root(java)
	if err != nil {
		return nil, nil, unavailable{err}
	}
	dir, err := os.MkdirTemp("", "sluice-trino-")
	if err != nil {
		return nil, nil, err
	}
	s, life, err := launch(java, unpacked, dir)
	if err != nil {
		return nil, nil, err
	}
	return s, life, os.Setenv(portEnv, s.Port)
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 3 * time.Minute

// script runs the server until its own standard input ends, and leaves nothing behind.
const script = `cd "$1" && { "$0" @java.args >log 2>&1 & read -r _; kill -9 $!; wait $!; cd / && rm -rf "$1"; }`

const javaArgs = `-Xmx1500m
-XX:+UseSerialGC
--add-modules=jdk.incubator.vector
--enable-native-access=ALL-UNNAMED
--sun-misc-unsafe-memory-access=allow
-Duser.timezone=Europe/Berlin
-Dconfig=config.properties
-cp
%s/lib/*
sluice.trino.Main
%s
`

const config = `node.environment=test
node.id=one
node.internal-address=127.0.0.1
node.bind-ip=127.0.0.1
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port=%[1]s
discovery.uri=http://127.0.0.1:%[1]s
catalog.management=dynamic
catalog.store=memory
plugin.dir=%[2]s/plugin
query.max-memory-per-node=700MB
memory.heap-headroom-per-node=200MB
query.client.timeout=10s
`

func configure(unpacked, dir, port string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "config.properties"), fmt.Appendf(nil, config, port, unpacked), 0o644),
		os.WriteFile(filepath.Join(dir, "java.args"), fmt.Appendf(nil, javaArgs, unpacked, Version), 0o644),
	)
}

// launch runs the server in a directory.
func launch(java, unpacked, dir string) (*Server, io.Closer, error) {
	port, err := freePort()
	if err == nil {
		err = configure(unpacked, dir, port)
	}
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("sh", "-c", script, filepath.Join(java, "bin", "java"), dir)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	s := &Server{Host: "127.0.0.1", Port: port}
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if err = s.ready(); err == nil {
			break
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, nil, errors.Join(fmt.Errorf("the server does not answer: %w\n%s", err, lastLines(said)), life.Close())
		}
	}
	for _, name := range []string{"tpch", "memory"} {
		if _, err := s.ask("CREATE CATALOG " + name + " USING " + name); err != nil {
			return nil, nil, errors.Join(err, life.Close())
		}
	}
	return s, life, nil
}

func lastLines(log []byte) string {
	lines := strings.Split(string(log), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// freePort returns a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
