package catalog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// session is a session at home, as the proxy's session is one.
type session struct {
	t    *testing.T
	conn *pgconn.PgConn
}

// connect opens a session in a database of the test's own home.
func connect(t *testing.T, url string) *session {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &session{t, conn}
}

// newDatabase returns the URL of an empty database.
func newDatabase(t *testing.T) string { return hometest.Database(t, hometest.Start(t)) }

// installed returns a superuser's session in a fresh database with the extension.
func installed(t *testing.T) (s *session, url string) {
	t.Helper()
	url = newDatabase(t)
	s = connect(t, url)
	s.do("BEGIN")
	if _, _, err := catalog.Install(t.Context(), s, catalog.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	s.do("COMMIT")
	return s, url
}

func (s *session) Query(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = []byte(a)
	}
	result := s.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	rows := make([][]*string, len(result.Rows))
	for i, r := range result.Rows {
		rows[i] = make([]*string, len(r))
		for j, v := range r {
			if v != nil {
				text := string(v)
				rows[i][j] = &text
			}
		}
	}
	return rows, result.Err
}

func (s *session) Exec(ctx context.Context, sql string) (string, error) {
	result := s.conn.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
	return result.CommandTag.String(), result.Err
}

// do runs statements that must succeed.
func (s *session) do(sql string) {
	s.t.Helper()
	if _, err := s.conn.Exec(context.Background(), sql).ReadAll(); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// try runs statements and returns their error.
func (s *session) try(sql string) error {
	_, err := s.conn.Exec(context.Background(), sql).ReadAll()
	return err
}

// value returns the first value that a query yields.
func (s *session) value(sql string) string {
	s.t.Helper()
	rows, err := s.Query(context.Background(), sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	if len(rows) == 0 || rows[0][0] == nil {
		return ""
	}
	return *rows[0][0]
}

// code returns the SQLSTATE of an error, empty for none.
func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	if err != nil {
		return "not a Postgres error: " + err.Error()
	}
	return ""
}

// hometestURL is the URL of a database that outlives the test's own.
func hometestURL(t *testing.T) string { return hometest.Start(t).URL("postgres") }
