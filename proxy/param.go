package proxy

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser/plan"
)

// paramsAtOnce is how many parameters home is asked to read in one statement: a select list has 1,664 entries at most.
const paramsAtOnce = 1600

// paramTexts returns the parameters in text form, as home reads them: in the types it inferred, and with its errors.
func (s *Session) paramTexts(ctx context.Context, x *execution) ([]*string, error) {
	if x.texts != nil {
		return x.texts, nil
	}
	if texts, ok := s.plainTexts(x); ok {
		x.texts = texts
		return texts, nil
	}
	var texts []*string
	for from := 0; from < len(x.described.params); from += paramsAtOnce {
		types, bind := x.params(from)
		rows, _, err := s.once(ctx, selectParams(len(types)), types, bind)
		if err != nil {
			return nil, inPortal(err, x.bind, from)
		}
		texts = append(texts, rows[0]...)
	}
	x.texts = texts
	return x.texts, nil
}

// checkParams has home read the parameters, whose errors come at Bind.
func (s *Session) checkParams(ctx context.Context, x *execution) error {
	for from := 0; x.bind != nil && from < len(x.described.params); from += paramsAtOnce {
		types, m := x.params(from)
		m.DestinationPortal, m.PreparedStatement = ownPortal, onceName
		var r request
		r.close('S', onceName).parse(onceName, selectParams(len(types)), types).add('B', m).close('P', ownPortal)
		if err := s.ask(ctx, &r, nil); err != nil {
			return inPortal(err, x.bind, from)
		}
	}
	return nil
}

// params returns some parameters from an index on: their types, and a Bind of theirs (nil where the client has bound none).
func (x *execution) params(from int) ([]uint32, *pgproto3.Bind) {
	to := min(from+paramsAtOnce, len(x.described.params))
	types := x.described.params[from:to]
	if x.bind == nil {
		return types, nil
	}
	m := &pgproto3.Bind{
		DestinationPortal: x.bind.DestinationPortal, Parameters: x.bind.Parameters[from:to], ParameterFormatCodes: x.bind.ParameterFormatCodes,
	}
	if len(m.ParameterFormatCodes) > 1 {
		m.ParameterFormatCodes = m.ParameterFormatCodes[from:to]
	}
	return types, m
}

var parameterNumber = regexp.MustCompile(`parameter \$(\d+)`)

// inPortal makes an error about a parameter speak of the client's portal, not of our own, and of the parameter by the
// number that it has for the client.
func inPortal(err error, m *pgproto3.Bind, from int) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || m == nil {
		return err
	}
	e := *pe
	name := "unnamed portal"
	if m.DestinationPortal != "" {
		name = `portal "` + m.DestinationPortal + `"`
	}
	e.Where = strings.Replace(e.Where, `portal "`+ownPortal+`"`, name, 1)
	if n := parameterNumber.FindStringSubmatchIndex(e.Where); n != nil {
		k, _ := strconv.Atoi(e.Where[n[2]:n[3]])
		e.Where = e.Where[:n[2]] + strconv.Itoa(k+from) + e.Where[n[3]:]
	}
	return &e
}

// selectParams is a statement that gives its n parameters back.
func selectParams(n int) string {
	var b strings.Builder
	b.WriteString("SELECT $1")
	for i := 2; i <= n; i++ {
		b.WriteString(", $" + strconv.Itoa(i))
	}
	return b.String()
}

// pick returns the parameters numbered in params, from 1. Where home does not run the statement, it reads all the same those that no
// engine is sent, as one with a wrong value is an error.
func (s *Session) pick(ctx context.Context, x *execution, params []int) ([]*string, error) {
	if len(params) == 0 && (x.plan.Route == plan.HomeJoin || x.bind == nil) {
		return nil, nil
	}
	texts, err := s.shippedTexts(ctx, x)
	if err != nil {
		return nil, err
	}
	args := make([]*string, len(params))
	for i, n := range params {
		args[i] = texts[n-1]
	}
	return args, nil
}

// shippedTexts are the parameters and the plan's moments in text form.
func (s *Session) shippedTexts(ctx context.Context, x *execution) ([]*string, error) {
	texts, err := s.paramTexts(ctx, x)
	if err != nil || len(x.plan.Moments) == 0 {
		return texts, err
	}
	unknown := func(m plan.Moment) bool { _, known := x.moments[m]; return !known }
	if slices.ContainsFunc(x.plan.Moments, unknown) {
		list := make([]string, len(x.plan.Moments))
		for i, m := range x.plan.Moments {
			list[i] = "CAST(" + m.SQL + " AS pg_catalog.text)"
		}
		rows, _, err := s.once(ctx, "SELECT "+strings.Join(list, ", "), x.described.params, x.bind)
		if err != nil {
			return nil, inPortal(err, x.bind, 0)
		}
		x.moments = map[plan.Moment]*string{}
		for i, m := range x.plan.Moments {
			x.moments[m] = rows[0][i]
		}
	}
	texts = slices.Clone(texts)
	for _, m := range x.plan.Moments {
		texts = append(texts, x.moments[m])
	}
	return texts, nil
}
