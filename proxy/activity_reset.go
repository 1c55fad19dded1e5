package proxy

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// resetsActivity reports whether a statement is SELECT sluice.stat_reset() and nothing else.
func resetsActivity(n *pg_query.Node) bool {
	s := n.GetSelectStmt()
	if s == nil || len(s.TargetList) != 1 {
		return false
	}
	call := s.TargetList[0].GetResTarget().GetVal().GetFuncCall()
	if call == nil || len(call.Args) > 0 {
		return false
	}
	var name []string
	for _, part := range call.Funcname {
		name = append(name, part.GetString_().GetSval())
	}
	alone := &pg_query.SelectStmt{TargetList: s.TargetList, LimitOption: s.LimitOption, Op: pg_query.SetOperation_SETOP_NONE}
	return slices.Equal(name, []string{"sluice", "stat_reset"}) && proto.Equal(s, alone)
}

// resetActivity forgets the statements that have ended, if home lets the role call the function: that does nothing by itself,
// and refuses to where nobody has announced it.
func (s *Session) resetActivity(ctx context.Context, x *execution) (*cursor, error) {
	const announce = "SELECT pg_catalog.set_config('sluice.stat_reset', $1, true)"
	if _, err := s.Query(ctx, announce, "on"); err != nil {
		return nil, err
	}
	rows, _, err := s.once(ctx, x.statement.Text, nil, nil)
	if err != nil {
		return nil, err
	}
	s.server.activity.Reset()
	_, err = s.Query(ctx, announce, "")
	return rowsCursor(x.described.fields, rows), err
}
