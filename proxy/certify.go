package proxy

import (
	"context"
	"encoding/json"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/certify"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
)

// Certified is one thing that certification has found of a server.
type Certified struct {
	Terminal   string `json:"terminal"`
	Capability string `json:"capability"`
	Certified  bool   `json:"certified"`
	Version    string `json:"version"`
	Detail     string `json:"detail"`
}

// terminals are the forms in which rows leave: encoded for clients, and as columns.
var terminals = []struct {
	name string
	wrap func(engines.Engine) engines.Engine
}{{"row", encode.Framed}, {"arrow", certify.Columns}}

// Certify runs on a server that is in use what shows whether its engine does what it promises, at each terminal.
func Certify(ctx context.Context, e engines.Engine) ([]Certified, error) {
	if _, ok := engines.As[engines.Certifiable](e); !ok {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the server's engine has no statements to be certified by"), "docs/engines.md says which engines have.")
	}
	var found []Certified
	for _, t := range terminals {
		h, version, err := certify.Of(ctx, e, t.wrap)
		if err != nil {
			return nil, err
		}
		for _, r := range certify.Live(ctx, h) {
			found = append(found, Certified{t.name, r.Capability, r.Certified, version, r.Detail})
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return found, nil
}

// NoteCertified notes what was found of a server, by one who owns it.
func NoteCertified(ctx context.Context, q catalog.Querier, server string, found []Certified) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	_, err = q.Query(ctx, "SELECT sluice.note_certification($1::pg_catalog.name, $2::pg_catalog.jsonb)", server, string(text))
	return err
}

// certifies carries out SELECT … FROM sluice.certify(…): the server is looked at, and home answers from what was noted of it.
func (s *Session) certifies(ctx context.Context, x *execution) (*cursor, error) {
	args, err := s.called(ctx, x, calls(x.statement, "certify"), "certify_arguments")
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return nil, pgerr.New(codeNull, "the server must not be null")
	}
	server := s.serverNamed(*args[0])
	if server == nil {
		return nil, pgerr.New(pgerr.WrongObjectType, "server %q is not one of Sluice's", *args[0])
	}
	engine, err := s.engine(ctx, server, 0)
	if err != nil {
		return nil, err
	}
	run := s.begin()
	defer run.end()
	task := s.server.activity.Start(s.origin(s.role), "certify", server.Name, 0)
	defer task.End()
	found, err := Certify(run.ctx, engine)
	if err != nil {
		return nil, s.cause(err)
	}
	if err := NoteCertified(ctx, s, server.Name, found); err != nil {
		return nil, withoutPosition(err)
	}
	return s.answerFrom(ctx, x, "sluice.certified('"+strings.ReplaceAll(server.Name, "'", "''")+"')")
}

// checkCertified refuses option stream 'required' of a server that is not certified to stream as it is now defined: home has
// carried the statement out.
func (s *Session) checkCertified(ctx context.Context, n *pg_query.Node) error {
	name := n.GetAlterForeignServerStmt().GetServername()
	if name == "" {
		name = n.GetCreateForeignServerStmt().GetServername()
	}
	if name == "" {
		return nil
	}
	rows, err := s.Query(ctx, `SELECT FROM pg_catalog.pg_foreign_server s WHERE s.srvname OPERATOR(pg_catalog.=) $1
AND 'stream=required' OPERATOR(pg_catalog.=) ANY (s.srvoptions) AND NOT EXISTS (SELECT FROM sluice.engine_capabilities c
WHERE c.server OPERATOR(pg_catalog.=) s.srvname AND c.terminal OPERATOR(pg_catalog.=) 'row' AND c.capability OPERATOR(pg_catalog.=) 'stream' AND c.certified_at IS NOT NULL)`, name)
	if err != nil || len(rows) == 0 {
		return err
	}
	return pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "server %q is not certified to stream as it is defined", name),
		"Leave option \"stream\" out, run SELECT * FROM sluice.certify('%s'), and then ALTER SERVER … OPTIONS (ADD stream 'required').", name)
}
