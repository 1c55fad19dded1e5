package page

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestForms compares what pages read with golden files. A catalog's lines are
//
//	table r id:int8! s:int4 name:text key(id) (s, id) unique(name) (a DESC, b DESC NULLS LAST)
//
// where ! says NOT NULL, and ? masked. foreign tables have no indexes, and key(…) declares. Of a query stand below it its form, its keys,
// and what it reads: of ranges, under the bits of which keys of the token are NULL, -1 for the first page.
func TestForms(t *testing.T) {
	for _, file := range []string{"forms", "keys", "refused"} {
		t.Run(file, func(t *testing.T) {
			facts := map[string]*Relation{}
			datadriven.RunTest(t, "testdata/"+file, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "catalog" {
					return load(t, d, facts)
				}
				var b strings.Builder
				for query := range strings.Lines(d.Input) {
					query = strings.TrimSpace(query)
					if strings.Count(d.Input, "\n") > 0 {
						b.WriteString(query + "\n")
					}
					b.WriteString(printPage(query, facts, d.HasArg("first"), d.HasArg("whole")))
				}
				return b.String()
			})
		})
	}
}

var oids = map[string]uint32{"int4": 23, "int8": 20, "text": 25, "timestamptz": 1184, "float8": 701, "bytea": 17, "jsonb": 3802}

func load(t *testing.T, d *datadriven.TestData, facts map[string]*Relation) string {
	clear(facts)
	for i, line := range strings.Split(d.Input, "\n") {
		words := strings.SplitN(line, " ", 3)
		r := &Relation{OID: int64(100 * (i + 1)), Kind: "r", Schema: "public", Name: words[1], Plain: words[0] != "parent"}
		if words[0] == "foreign" {
			r.Kind, r.Wrapper = "f", "sluice_duckdb"
		}
		rest, indexes, _ := strings.Cut(words[2], "(")
		columns := strings.Fields(rest)
		for _, c := range columns {
			name, typ, ok := strings.Cut(c, ":")
			if !ok { // what an index begins with
				continue
			}
			bare := strings.TrimRight(typ, "!?")
			if oids[bare] == 0 {
				d.Fatalf(t, "no such type: %s", typ)
			}
			r.Columns = append(r.Columns, Column{Name: name, Num: int64(len(r.Columns) + 1), NotNull: strings.Contains(typ, "!"), Masked: strings.Contains(typ, "?"), Type: oids[bare]})
		}
		if indexes != "" {
			loadIndexes(r, columns[len(columns)-1]+"("+indexes)
		}
		facts[r.Name] = r
	}
	return ""
}

var indexText = regexp.MustCompile(`(key|unique|partial)?\(([^)]*)\)`)

func loadIndexes(r *Relation, text string) {
	for _, m := range indexText.FindAllStringSubmatch(text, -1) {
		x := Index{OID: r.OID + int64(len(r.Indexes)) + 1, Name: r.Name + strconv.Itoa(len(r.Indexes)+1), Unique: m[1] == "key" || m[1] == "unique", Primary: m[1] == "key", Partial: m[1] == "partial", Btree: true}
		for _, k := range strings.Split(m[2], ", ") {
			name, how, _ := strings.Cut(k, " ")
			c := r.column(name)
			if r.Kind == "f" {
				c.Key = true
				continue
			}
			desc := strings.HasPrefix(how, "DESC")
			key := IndexKey{Desc: desc, First: strings.HasSuffix(how, "FIRST") || desc && !strings.HasSuffix(how, "LAST"), Expression: name}
			if c != nil {
				key.Num, key.Expression = c.Num, ""
			}
			x.Keys = append(x.Keys, key)
		}
		if r.Kind != "f" {
			r.Indexes = append(r.Indexes, x)
		}
	}
}

// printPage has a query read and analysed as a session does, but for home, and prints what its pages read.
func printPage(text string, facts map[string]*Relation, first, whole bool) string {
	q, err := Read(text)
	if err != nil {
		return failure(err)
	}
	f := &Facts{}
	for _, name := range q.Relations() {
		f.Relations = append(f.Relations, facts[strings.Trim(name, `"`)])
	}
	for _, name := range q.Functions() {
		f.Functions = append(f.Functions, Function{name, name == "random", name == "count" || name == "generate_series"})
	}
	if err := q.Know(f); err != nil {
		return failure(err)
	}
	columns, err := q.Describe(fieldsOf(q), func(uint32) (string, error) { return "", nil })
	if err != nil {
		return failure(err)
	}
	served, advice := q.Served()
	o := Options{After: "$1", Rows: 10, Index: served}
	if first {
		o.After = ""
	}
	x := expansion{q: q, o: o, inner: "…"}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s by %s\n", q.Form(o), strings.Join(keysOf(q), ", "))
	if q.index != "" {
		fmt.Fprintf(&b, "  index %s\n", q.index)
	}
	if advice != nil {
		fmt.Fprintf(&b, "  advice %s\n", strings.TrimPrefix(advice.SQL, "CREATE INDEX CONCURRENTLY ON public."))
	}
	if whole {
		sql, err := q.Expand(columns, o)
		if err != nil {
			return failure(err)
		}
		return b.String() + "  " + sql + "\n"
	}
	for _, leg := range strings.Split(brief(x.rows()), ") UNION ALL (") {
		b.WriteString("  " + leg + "\n")
	}
	return b.String()
}

func failure(err error) string {
	e := err.(*pgconn.PgError)
	return fmt.Sprintf("  %s: %s (%s)\n", e.Code, e.Message, e.Hint)
}

func keysOf(q *Query) (list []string) {
	for i, k := range q.keys {
		text := q.column(i)
		if k.expr != nil {
			text = printed(k.expr)
		}
		text += map[bool]string{true: " DESC"}[k.desc] + map[bool]string{true: " FIRST", false: " LAST"}[k.first] + map[bool]string{true: " NOT NULL"}[k.notNull]
		list = append(list, text)
	}
	if !q.unique {
		list = append(list, "perhaps the same for two rows")
	} else if !q.sworn {
		list = append(list, "declared to be unique")
	}
	return list
}

// fieldsOf are the columns of Inner, where they are columns of tables; others are texts.
func fieldsOf(q *Query) (fields []Field) {
	field := func(n *pg_query.Node, name string) {
		f := Field{Name: name, OID: 25}
		if _, c := q.columnOf(n); c != nil {
			f.OID = c.Type
		}
		fields = append(fields, f)
	}
	if q.hides {
		for i, k := range q.keys {
			field(k.expr, keyColumn(i))
		}
	}
	list := q.sel.TargetList
	if q.sel.Op != pg_query.SetOperation_SETOP_NONE {
		list = q.sel.Larg.TargetList
	}
	for i, n := range list {
		r := n.GetResTarget()
		switch {
		case star(r.Val):
			for _, f := range q.from {
				for _, c := range f.facts.Columns {
					fields = append(fields, Field{Name: c.Name, OID: c.Type})
				}
			}
		case r.Name != "":
			field(r.Val, r.Name)
		case impliedName(r.Val) != "":
			field(r.Val, impliedName(r.Val))
		default:
			field(r.Val, "column"+strconv.Itoa(i))
		}
	}
	return fields
}

var shortened = []*regexp.Regexp{
	regexp.MustCompile(`\(SELECT a\.keys\[(\d+)\] FROM sluice_after a\)::pg_catalog\.\w+`), regexp.MustCompile(`\(SELECT sluice\.page_value\([^)]*, (\d+)\)\)::pg_catalog\.\w+`),
}

// brief is SQL with values of the token as $1 and so on, and without what is the same in all of it.
func brief(sql string) string {
	for _, r := range shortened {
		sql = r.ReplaceAllString(sql, "$$$1")
	}
	sql = regexp.MustCompile(`\(SELECT sluice\.page_first\([^)]*\)\)`).ReplaceAllString(sql, "first")
	sql = regexp.MustCompile(`SELECT \* FROM \(…\) AS q( WHERE \(SELECT a.nulls FROM sluice_after a\) = (-?\d+))?( AND)?`).ReplaceAllString(sql, "$2:")
	sql = strings.TrimSuffix(strings.TrimPrefix(sql, "SELECT * FROM (("), ")) AS r LIMIT 11")
	return strings.NewReplacer("q.sluice_key_", "k", `q."`, `"`, " LIMIT 11", "").Replace(sql)
}

// TestMentions looks for calls in texts as a proxy does before it parses them.
func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM sluice.page('')": true, `SELECT * FROM SLUICE."page"('')`: true, "SELECT sluice.fetch_cursor('')": true, "SELECT page FROM book": false, "SELECT * FROM sluice.servers": false,
	} {
		if Mentions(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}

// TestFind finds calls, and where they stand.
func TestFind(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 'é' FROM sluice.page('SELECT 1', 2)":                                                      {"page ('SELECT 1', 2) at 17"},
		"SELECT * FROM sluice /* ( */ . \"page\" ( query => 'SELECT (1)' ) p, sluice.fetch_cursor('c') q": {"page ( query => 'SELECT (1)' ) at 15", "fetch_cursor ('c') at 68"},
		"SELECT 'sluice.page(' FROM sluice.servers":                                                       nil,
	} {
		list, err := parser.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := Find(text, list)
		var got []string
		for _, c := range calls {
			got = append(got, fmt.Sprintf("%s %s at %d", c.Function, text[c.Open:c.End], c.Position))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
