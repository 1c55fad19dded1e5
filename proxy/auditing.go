package proxy

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/audit"
	"github.com/sluicedb/sluice/proxy/limit"
)

// auditing says what is audited for a role, and how.
type auditing struct {
	governed, all  bool
	text, required bool
}

// auditingOf reads the settings of a session's roles: what either of them asks for is done.
func auditingOf(roles *catalog.RoleSettings) (a auditing, err error) {
	for i, settings := range []map[string]string{roles.Session, roles.Current} {
		switch mode, set := settings["sluice.audit"]; {
		case mode == "governed" || !set && i == 0:
			a.governed = true
		case mode == "all":
			a.all = true
		case mode != "none" && set:
			return auditing{governed: true}, pgerr.Hint(limit.Invalid("sluice.audit", mode), "Available values: none, governed, all.")
		}
		for name, on := range map[string]*bool{"sluice.audit_text": &a.text, "sluice.audit_required": &a.required} {
			value, known := booleans[strings.ToLower(settings[name])]
			if !known {
				return auditing{governed: true}, pgerr.Hint(limit.Invalid(name, settings[name]), "Available values: on, off.")
			}
			*on = *on || value
		}
	}
	return a, nil
}

var booleans = map[string]bool{"": false, "off": false, "false": false, "no": false, "0": false, "on": true, "true": true, "yes": true, "1": true}

// auditSink writes the audit of one database under the service account.
type auditSink struct{ conn *pgconn.PgConn }

func (w *watches) openAudit(ctx context.Context, database string) (audit.Sink, error) {
	c, err := w.connect(ctx, database, nil)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "3D000" {
		return nil, audit.ErrGone
	}
	if err != nil {
		return nil, err
	}
	if err := c.Exec(ctx, "SET client_encoding = 'UTF8'").Close(); err != nil {
		closeConn(c)
		return nil, err
	}
	return auditSink{c}, nil
}

func (a auditSink) Write(ctx context.Context, document []byte) error {
	_, err := inExtension(ctx, a.conn, "BEGIN READ WRITE", "COMMIT", "SELECT sluice.write_audit($1)", document)
	if errors.Is(err, errNotInstalled) {
		return audit.ErrGone
	}
	return err
}

func (a auditSink) Close() { closeConn(a.conn) }

// Audited returns how many rows of the audit were written, how many were lost, and how many wait to be written.
func (s *Server) Audited() (written, lost int64, queued int) { return s.audit.Stats() }
