package proxy

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// checkPrivileges refuses a statement whose role lacks a privilege on a relation of ours: home never comes to check
// them. Where the role holds some columns only, the plan is made anew, by req, to ship no others.
func (s *Session) checkPrivileges(ctx context.Context, x *execution, req *plan.Request) error {
	exact, err := s.checkNeeded(ctx, x)
	if err != nil {
		return err
	}
	if x.plan.Refused != nil {
		return x.plan.Refused
	}
	if exact != nil && len(x.plan.Inputs) > 0 {
		req.Only = map[uint32][]int16{}
		for _, p := range exact {
			columns := req.Only[p.OID]
			if p.Name == "SELECT" {
				columns = append(columns, p.Columns...)
			}
			req.Only[p.OID] = columns
		}
		if x.plan, err = s.build(*req, x); err != nil {
			return err
		}
	}
	if x.plan.Route != plan.HomeJoin {
		return nil
	}
	return s.checkShipped(ctx, x, exact != nil)
}

// checkShipped refuses to ship what the role may not read: rows of a table below a view, or columns. Until they are
// dropped it could read in its temporary schema what the view leaves out.
func (s *Session) checkShipped(ctx context.Context, x *execution, all bool) error {
	below := map[uint32]bool{}
	for _, p := range x.plan.Privileges {
		if p.View != 0 {
			below[p.Relation.OID] = true
		}
	}
	var list []catalog.Privilege
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		if !all && !below[in.Relation.OID] || in.Blank || in.Sealed || len(in.Columns) == 0 {
			continue
		}
		columns := make([]int16, len(in.Columns))
		for j, c := range in.Columns {
			columns[j] = in.Relation.Columns[c].Num
		}
		list = append(list, catalog.Privilege{OID: in.Relation.OID, Name: "SELECT", Columns: columns})
	}
	err := catalog.CheckPrivileges(ctx, x.questions, list)
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != pgerr.InsufficientPrivilege {
		return err
	}
	e := pgerr.New(pgerr.FeatureNotSupported, "the statement cannot be computed at home for a role that may not read all that home would need")
	e.Detail = "Home would need rows that a view leaves out, or columns that the statement does not name: " + pe.Message + "."
	return pgerr.Hint(e, "Use a statement that EXPLAIN shows as remote, or GRANT SELECT on the foreign table.")
}

// checkNeeded checks what Postgres would. Whole relations are checked first; only where that fails, home is asked which
// columns the statement really uses, and these are returned.
func (s *Session) checkNeeded(ctx context.Context, x *execution) ([]catalog.Privilege, error) {
	var list []catalog.Privilege
	for _, p := range x.plan.Privileges {
		columns := p.Columns
		if columns == nil {
			columns = []int16{catalog.WholeRow}
		}
		list = append(list, catalog.Privilege{OID: p.Relation.OID, View: p.View, Name: p.Name, Columns: columns, Named: p.View == 0})
	}
	final, err := catalog.CheckWhole(ctx, x.questions, list)
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != pgerr.InsufficientPrivilege || final {
		return nil, err
	}
	exact, err := s.usedColumns(ctx, x)
	if err != nil {
		return nil, err
	}
	if len(exact) == 0 {
		return nil, pe
	}
	return exact, catalog.CheckColumns(ctx, x.questions, exact)
}

const traceOn = `SELECT pg_catalog.current_setting('client_min_messages'), pg_catalog.current_setting('debug_print_rewritten'), ` +
	`pg_catalog.current_setting('debug_pretty_print'), pg_catalog.set_config('client_min_messages', 'log', true), ` +
	`pg_catalog.set_config('debug_print_rewritten', 'on', true), pg_catalog.set_config('debug_pretty_print', 'off', true)`

const traceOff = `SELECT pg_catalog.set_config('client_min_messages', $1, true), pg_catalog.set_config('debug_print_rewritten', $2, true), ` +
	`pg_catalog.set_config('debug_pretty_print', $3, true)`

// usedColumns makes home print the statement's analysed and rewritten query tree, which says for each relation as whom
// and for which columns Postgres would check privileges.
func (s *Session) usedColumns(ctx context.Context, x *execution) ([]catalog.Privilege, error) {
	text := x.statement.Text
	inner, err := x.statement.Inner() // utility statements have no tree of their own
	if err != nil {
		return nil, err
	}
	if inner != nil {
		text = inner.Text
	}
	rows, err := s.Query(ctx, traceOn)
	if err != nil {
		return nil, err
	}
	var r request
	r.close('S', onceName).parse(onceName, text, x.described.params)
	r.parse(ownPrefix+"untrace", traceOff, nil).bind(ownPortal, ownPrefix+"untrace", [][]byte{[]byte(*rows[0][0]), []byte(*rows[0][1]), []byte(*rows[0][2])})
	r.execute(ownPortal).close('P', ownPortal).close('S', ownPrefix+"untrace")
	var trees []string
	err = s.ask(ctx, r.quiet(), func(typ byte, body []byte) error {
		var m pgproto3.NoticeResponse
		if typ == 'N' && m.Decode(body) == nil && m.Severity == "LOG" {
			trees = append(trees, m.Detail)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []catalog.Privilege
	for _, tree := range trees {
		list = append(list, s.readTree(tree)...)
	}
	return list, nil
}

// neededPrivileges matches what a range table entry (to Postgres 15) or its permission info (from 16) says.
var neededPrivileges = regexp.MustCompile(`:relid (\d+) [^{}]*?:requiredPerms (\d+) :checkAsUser (\d+) ` +
	`:selectedCols \(b([ \d]*)\) :insertedCols \(b([ \d]*)\) :updatedCols \(b([ \d]*)\)`)

// Bits of requiredPerms (Postgres' parsenodes.h).
const (
	aclInsert = 1 << iota
	aclSelect
	aclUpdate
	aclDelete
	aclTruncate
)

// firstColumnBit is the bit that stands for attribute number 0 in a set of columns.
const firstColumnBit = 7

func (s *Session) readTree(tree string) []catalog.Privilege {
	var list []catalog.Privilege
	for _, m := range neededPrivileges.FindAllStringSubmatch(strings.Join(strings.Fields(tree), " "), -1) {
		oid, _ := strconv.ParseUint(m[1], 10, 32)
		perms, _ := strconv.ParseUint(m[2], 10, 32)
		role, _ := strconv.ParseUint(m[3], 10, 32)
		if t := s.snapshot.Relations[uint32(oid)]; t == nil || t.MaskView != "" { // which home checks
			continue
		}
		for _, p := range []struct {
			bit     uint64
			name    string
			columns string
		}{{aclSelect, "SELECT", m[4]}, {aclInsert, "INSERT", m[5]}, {aclUpdate, "UPDATE", m[6]}, {aclDelete, "DELETE", ""}, {aclTruncate, "TRUNCATE", ""}} {
			if perms&p.bit != 0 {
				list = append(list, catalog.Privilege{
					OID: uint32(oid), Role: uint32(role), Name: p.name, Columns: columnSet(p.columns), Named: role == 0,
				})
			}
		}
	}
	return list
}

func columnSet(bits string) []int16 {
	var columns []int16
	for _, f := range strings.Fields(bits) {
		if n, err := strconv.Atoi(f); err == nil {
			columns = append(columns, int16(n-firstColumnBit))
		}
	}
	return columns
}
