package sqldb

import (
	"context"
	"database/sql/driver"
	"net"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// sqlServerSession is a connection of the driver's that is closed by its socket alone. The driver's own Close gives the buffer to
// other connections while a goroutine may still be reading into it.
type sqlServerSession struct {
	*mssql.Conn
	socket net.Conn
}

// Close ends the session, and whatever reads from it.
func (s *sqlServerSession) Close() error { return s.socket.Close() }

// ResetSession keeps the settings of the session, which the driver's own would have the server take back.
func (s *sqlServerSession) ResetSession(context.Context) error {
	if !s.IsValid() {
		return driver.ErrBadConn
	}
	return nil
}

// ExecContext runs statements that yield nothing.
func (s *sqlServerSession) ExecContext(ctx context.Context, sql string, args []driver.NamedValue) (driver.Result, error) {
	stmt, err := s.PrepareContext(ctx, sql)
	if err != nil {
		return nil, err
	}
	return stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// attentionTime is how long the server has to answer that a statement has stopped.
const attentionTime = 500 * time.Millisecond

// hurry closes the connection when the server does not say soon that it has stopped.
func (s *sqlServerSession) hurry() { time.AfterFunc(attentionTime, func() { _ = s.socket.Close() }) }

// keptDialer keeps the socket that a connection was made over.
type keptDialer struct{ socket net.Conn }

// DialContext connects.
func (d *keptDialer) DialContext(ctx context.Context, network, address string) (socket net.Conn, err error) {
	d.socket, err = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
	return d.socket, err
}
