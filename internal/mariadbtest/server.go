package mariadbtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// Who may log in: Admin may do everything, Reader reads all databases.
const (
	Admin, AdminPassword   = "admin", "admin-secret"
	Reader, ReaderPassword = "reader", "reader-secret"
)

// portEnv hands the port to children of the test process, which then start no server of their own.
const portEnv = "SLUICE_MARIADB_PORT"

// Server is a server that runs.
type Server struct {
	Port    int
	process *exec.Cmd
	dir     string
}

var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// startTimeout bounds the making of a server on a busy machine.
const startTimeout = 2 * time.Minute

// errNone says that the machine has no MariaDB.
var errNone = errors.New("there is no mariadbd on this machine (Debian package mariadb-server)")

// Start returns the server of this test process, which the first call starts; it skips the test where there is none.
func Start(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if port, err := strconv.Atoi(os.Getenv(portEnv)); err == nil && shared.server == nil {
		shared.server = &Server{Port: port}
	}
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start()
	}
	if errors.Is(shared.err, errNone) {
		tb.Skip(shared.err)
	}
	if shared.err != nil {
		tb.Fatalf("no MariaDB for tests: %v", shared.err)
	}
	return shared.server
}

// stop ends the server.
func (s *Server) stop() error {
	_ = s.process.Process.Kill() // nobody wants its data
	_ = s.process.Wait()
	return os.RemoveAll(s.dir)
}

func find(name string) (string, error) {
	for _, dir := range []string{"", "/usr/sbin", "/usr/bin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", errNone
}

// credential is an account that is not root's, nil for our own.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"mysql", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uerr, gerr)
	}
	return nil, errors.New("there is no account to run it as")
}

// accounts is what the server does as it starts, a statement a line.
const accounts = `CREATE USER '%s'@'%%' IDENTIFIED BY '%s';
GRANT ALL ON *.* TO '%[1]s'@'%%' WITH GRANT OPTION;
CREATE USER '%[3]s'@'%%' IDENTIFIED BY '%[4]s';
GRANT SELECT ON *.* TO '%[3]s'@'%%';
DROP USER IF EXISTS ''@'localhost';
`

// start makes a server in a new directory.
func start() (*Server, error) {
	daemon, err := find("mariadbd")
	if err != nil {
		return nil, err
	}
	installer, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	as, err := credential()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-mariadb-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := s.run(daemon, installer, as); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	hometest.AtEnd(s.stop)
	return s, os.Setenv(portEnv, strconv.Itoa(s.Port))
}

func (s *Server) run(daemon, installer string, as *syscall.Credential) (err error) {
	if s.Port, err = freePort(); err != nil {
		return err
	}
	accountsFile := filepath.Join(s.dir, "accounts.sql")
	if err := os.WriteFile(accountsFile, fmt.Appendf(nil, accounts, Admin, AdminPassword, Reader, ReaderPassword), 0o644); err != nil {
		return err
	}
	if as != nil {
		if err := errors.Join(os.Chmod(s.dir, 0o755), os.Chown(s.dir, int(as.Uid), int(as.Gid))); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	install := exec.Command(installer, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	install.Dir, install.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as}
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	s.process = exec.Command(daemon, "--no-defaults", "--datadir="+data, "--bind-address=127.0.0.1", "--port="+strconv.Itoa(s.Port),
		"--socket="+filepath.Join(s.dir, "s"), "--pid-file="+filepath.Join(s.dir, "pid"), "--log-error="+filepath.Join(s.dir, "log"),
		"--init-file="+accountsFile, "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M",
		"--innodb-log-file-size=16M", "--performance-schema=OFF", "--character-set-server=utf8mb4")
	s.process.Dir, s.process.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as}
	dieWithParent(s.process.SysProcAttr)
	if err := s.process.Start(); err != nil {
		return err
	}
	return s.await()
}

// await waits until the server answers.
func (s *Server) await() error {
	deadline := time.Now().Add(startTimeout)
	for {
		err := s.Do(context.Background(), "", "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			_ = s.process.Process.Kill()
			_ = s.process.Wait()
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server does not answer: %w\n%s", err, log)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Do runs statements as Admin.
func (s *Server) Do(ctx context.Context, database string, statements ...string) error {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.DBName = Admin, AdminPassword, "tcp", database
	config.Addr, config.Logger = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, sql := range statements {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, sql, nil); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
