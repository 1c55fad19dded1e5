package proxy

import (
	"context"
	"slices"
	"strconv"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/lru"
	"github.com/sluicedb/sluice/parser"
)

// mostQuestions bounds the statements of our own that a session has prepared at home.
const mostQuestions = 64

// asked are the statements of our own that home has prepared for a session, by their SQL.
type asked struct {
	names *lru.Cache[string, string]
	made  int
	gone  []string // names that are still to be closed
}

func newAsked() asked { return asked{names: lru.New[string, string](mostQuestions)} }

// Query implements catalog.Querier on the client's own home connection, within whatever transaction is open there. The
// statement is prepared once in a session.
func (s *Session) Query(ctx context.Context, sql string, args ...string) (rows [][]*string, err error) {
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = []byte(a)
	}
	var r request
	s.question(&r, sql, values, &rows)
	return rows, s.ask(ctx, &r, nil)
}

// question adds to a request a statement whose rows, in text, go to rows.
func (s *Session) question(r *request, sql string, args [][]byte, rows *[][]*string) {
	s.checkAsked()
	for _, name := range s.asked.gone {
		r.close('S', name)
	}
	s.asked.gone = nil
	name, known := s.asked.names.Get(sql)
	if !known {
		s.asked.made++
		name = ownPrefix + "q" + strconv.Itoa(s.asked.made)
		r.parse(name, sql, nil).to(func(typ byte, _ []byte) error {
			if typ == '1' {
				s.asked.gone = append(s.asked.gone, s.asked.names.Put(sql, name, 1)...)
			}
			return nil
		})
	}
	r.bind(ownPortal, name, args).execute(ownPortal).ours().to(func(typ byte, body []byte) error {
		if typ != 'D' {
			return nil
		}
		row, err := textRow(body)
		*rows = append(*rows, row)
		return err
	})
	r.close('P', ownPortal)
}

// checkAsked forgets the statements of our own that a DISCARD ALL has taken away.
func (s *Session) checkAsked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgetAsked {
		s.asked.names.Drop(func(string, string) bool { return true })
		s.asked.gone = nil
		s.forgetAsked = false
	}
}

// dropAsked closes the statements of our own where the catalog is not installed: the client could see them there, and
// they will hardly be needed again.
func (s *Session) dropAsked() error {
	if s.snapshot.Installed {
		return nil
	}
	var r request
	s.asked.names.Drop(func(_, name string) bool {
		r.close('S', name)
		return true
	})
	return s.ask(s.ctx, &r, nil)
}

// questions are what home is asked to plan one statement. Those that others of its like had to ask are asked ahead,
// together with its analysis; what home answers is of the same moment either way, and a question that nobody foresaw is
// asked when it comes up.
type questions struct {
	session *Session
	like    questionKey
	ahead   []string
	answers map[string]*[][]*string // to those asked ahead, until they are used
	needed  []string
}

// questionKey says which statements are alike: those of a kind that name the same relations, of sessions that had the same
// role before them.
type questionKey struct {
	database string
	role     uint32
	kind     parser.Kind
	names    string
}

// foresee adds to the analysis of a statement what home will be asked to plan it.
func (s *Session) foresee(r *request, st *parser.Statement) *questions {
	q := &questions{session: s}
	if !s.snapshot.Installed || s.utility(st) != nil || executed(st.Node.Stmt) != nil {
		return q
	}
	resolve := catalog.ResolveSQL(namesIn(st))
	q.like = questionKey{s.database, s.role, st.Kind, resolve}
	if q.ahead, _ = s.server.questions.Get(q.like); q.ahead == nil {
		q.ahead = []string{resolve}
	}
	q.answers = make(map[string]*[][]*string, len(q.ahead))
	for _, sql := range q.ahead {
		rows := new([][]*string)
		q.answers[sql] = rows
		s.question(r, sql, nil, rows)
	}
	return q
}

// Query implements catalog.Querier.
func (q *questions) Query(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	if len(args) > 0 {
		return q.session.Query(ctx, sql, args...)
	}
	if rows := q.answers[sql]; rows != nil {
		delete(q.answers, sql) // whoever asks again wants to know what is true then
		q.needed = append(q.needed, sql)
		return *rows, nil
	}
	if !slices.Contains(q.needed, sql) {
		q.needed = append(q.needed, sql)
	}
	return q.session.Query(ctx, sql)
}

// done notes what had to be asked, for other statements of the like.
func (q *questions) done() {
	if q.like.names == "" || slices.Equal(q.ahead, q.needed) {
		return
	}
	cost := len(q.like.names)
	for _, sql := range q.needed {
		cost += len(sql)
	}
	q.session.server.questions.Put(q.like, q.needed, cost)
}

// questionBytes bounds the texts of the questions that are known to come up.
const questionBytes = 4 << 20

// namesIn returns the names of the relations of a statement.
func namesIn(st *parser.Statement) []catalog.Name {
	relations := st.Relations()
	names := make([]catalog.Name, len(relations))
	for i, r := range relations {
		names[i] = catalog.Name{Schema: r.Schema, Name: r.Name}
	}
	return names
}
