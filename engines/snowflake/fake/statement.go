package fake

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// statement is one that was handed in, and then its result.
type statement struct {
	fake  *Account
	id    string
	query engines.Query
	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{} // it has been computed

	changes bool // it is no query, and total what it has changed

	total   int64
	columns []Column
	first   []byte // rows that the answer has
	inline  int64  // and how many these are
	err     error
	script  *Answer
	stored  []byte // each part, of a script

	partRows int64 // that a part has

	mu     sync.Mutex
	stream engines.Stream
	next   int               // the part whose rows the stream yields next
	rest   arrow.RecordBatch // of the stream, in no part yet
}

type request struct {
	SQL        string         `json:"sqlText"`
	Async      bool           `json:"asyncExec"`
	Describe   bool           `json:"describeOnly"`
	Parameters map[string]any `json:"parameters"`
	Bindings   map[string]struct {
		Type  string  `json:"type"`
		Value *string `json:"value"`
	} `json:"bindings"`
}

func (a *Account) execute(w http.ResponseWriter, r *http.Request) {
	var q request
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Async || q.Describe || q.SQL == "" {
		http.Error(w, fmt.Sprintf("%v: %+v", err, q), http.StatusBadRequest)
		return
	}
	if a.Busy.Add(-1) >= 0 {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	if a.Expired.Add(-1) >= 0 {
		a.refuse(w, "390112", "08001", "Your session has expired. Please login again.")
		return
	}
	args := make([]*string, len(q.Bindings))
	for name, b := range q.Bindings {
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > len(args) || b.Type != "TEXT" {
			a.refuse(w, "002049", "42601", "binding %s is %+v", name, b)
			return
		}
		args[n-1] = b.Value
	}
	id := r.URL.Query().Get("requestId")
	a.mu.Lock()
	s := a.requests[id]
	if s == nil { // a request that comes again is the same
		tag, _ := q.Parameters["QUERY_TAG"].(string)
		a.orders = append(a.orders, Order{q.SQL, tag, args})
		s = &statement{fake: a, partRows: a.ChunkRows, id: fmt.Sprintf("01b2-%04d", len(a.statements)), done: make(chan struct{}), query: engines.Query{SQL: toDuckDB(q.SQL), Args: args},
			changes: changing.MatchString(q.SQL)}
		if answer, ok := a.answers[q.SQL]; ok {
			s.script = &answer
		}
		s.ctx, s.stop = context.WithCancel(context.Background())
		a.statements[s.id], a.requests[id] = s, s
		a.Running.Add(1)
		go s.compute()
	}
	a.mu.Unlock()
	a.report(w, r, s)
}

// compute runs a statement to where its result is known.
func (s *statement) compute() {
	defer close(s.done)
	defer s.fake.Running.Add(-1)
	if s.script != nil {
		s.err = s.recite()
		return
	}
	if s.changes {
		s.total, s.err = s.fake.change(s.ctx, s.query)
		return
	}
	if s.err = s.open(s.query); s.err != nil {
		return
	}
	if s.total, s.err = s.count(); s.err == nil {
		s.columns, s.err = describe(s.stream.Fields())
	}
	if s.err == nil && s.total > 0 {
		s.first, s.inline, s.err = s.beginning()
	}
	if s.err != nil || s.inline == s.total {
		s.forget()
	}
}

// open makes the stream, while which is open nothing is changed.
func (s *statement) open(q engines.Query) (err error) {
	if name := misnamed(q.SQL); name != "" {
		return pgerr.New(pgerr.UndefinedColumn, "invalid identifier %s", name)
	}
	s.fake.reading.RLock()
	if s.stream, err = s.fake.duck.Open(s.ctx, q); err != nil {
		s.fake.reading.RUnlock()
	}
	return err
}

// count has the rows counted, since the answer says how many parts there are.
func (s *statement) count() (int64, error) {
	q := s.query
	q.SQL = "SELECT CAST(count(*) AS BIGINT) FROM (" + q.SQL + ")"
	stream, err := s.fake.duck.Open(s.ctx, q)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	b, err := stream.Next(s.ctx)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(b.(engines.Columns).Record.Column(0).ValueStr(0), 10, 64)
}

// end is for a statement that nobody wants any more.
func (s *statement) end() {
	s.stop()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *statement) forget() {
	if s.stream != nil {
		_ = s.stream.Close()
		s.stream, s.rest = nil, nil
		s.fake.reading.RUnlock()
	}
}

// patience is how long a statement is waited for, before its client is told to ask again.
const patience = 20 * time.Millisecond

func (a *Account) report(w http.ResponseWriter, r *http.Request, s *statement) {
	select {
	case <-s.done:
	case <-r.Context().Done():
		return
	case <-time.After(patience):
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"success": false, "code": "333333", "message": "Query execution in progress.",
			"data": map[string]any{"queryId": s.id, "getResultUrl": "/queries/" + s.id + "/result"}})
		return
	}
	switch {
	case s.ctx.Err() != nil:
		a.refuse(w, "000604", "57014", "SQL execution canceled")
	case s.err != nil:
		a.explain(w, s.err)
	case s.script != nil && s.script.Number != "":
		a.refuse(w, s.script.Number, s.script.State, "%s", s.script.Message)
	default:
		a.answer(w, s.data())
	}
}

// explain says what is wrong with a statement in the service's words.
func (a *Account) explain(w http.ResponseWriter, err error) {
	pe := pgerr.From(err)
	switch pe.Code {
	case "42601":
		a.refuse(w, "001003", "42000", "SQL compilation error:\nsyntax error line 1 at position 0 unexpected 'x'.")
	case "42P01":
		a.refuse(w, "002003", "42S02", "SQL compilation error:\nObject 'NOPE' does not exist or not authorized.")
	case "42703":
		a.refuse(w, "000904", "42000", "SQL compilation error: error line 1 at position 7\ninvalid identifier 'NOPE'")
	default:
		a.refuse(w, "100000", pe.Code, "%s", pe.Message)
	}
}

func (s *statement) data() map[string]any {
	data := map[string]any{"queryId": s.id, "total": s.total, "returned": s.total, "rowtype": s.columns, "queryResultFormat": "arrow",
		"rowsetBase64": base64.StdEncoding.EncodeToString(s.first), "finalDatabaseName": Database, "statementTypeId": 4096}
	if s.script != nil && s.script.JSON != nil {
		data["queryResultFormat"], data["rowset"] = "json", s.script.JSON
	}
	if s.changes { // as of an INSERT, and as of what makes or drops a table
		data["queryResultFormat"], data["rowset"], data["rowtype"] = "json", [][]string{{strconv.FormatInt(s.total, 10)}}, []Column{{Name: "number of rows inserted", Type: "fixed", Precision: 19}}
		if data["statementTypeId"] = 0x3100; !strings.Contains(s.query.SQL, "INSERT ") {
			data["statementTypeId"] = 0x6000
		}
		data["total"], data["returned"] = 1, 1
		return data
	}
	s.fake.mu.Lock()
	storage := s.fake.storage
	s.fake.mu.Unlock()
	var chunks []map[string]any
	for at := s.inline; at < s.total; at += s.partRows {
		chunks = append(chunks, map[string]any{"url": fmt.Sprintf("%s/storage/%s/%d?signature=x", storage, s.id, len(chunks)),
			"rowCount": min(s.partRows, s.total-at), "uncompressedSize": 1, "compressedSize": 1})
	}
	if chunks != nil {
		data["chunks"], data["chunkHeaders"] = chunks, map[string]string{"X-Storage": "yes"}
	}
	return data
}

func (a *Account) await(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	s := a.statements[r.PathValue("id")]
	a.mu.Unlock()
	if s == nil {
		http.NotFound(w, r)
		return
	}
	a.report(w, r, s)
}

func (a *Account) abort(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID string `json:"requestId"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.ID == "" {
		http.Error(w, "no request is named", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	s := a.requests[body.ID]
	a.mu.Unlock()
	if s != nil {
		select {
		case <-s.done:
		default:
			a.Aborted.Add(1)
			s.stop()
			a.answer(w, nil)
			return
		}
	}
	a.refuse(w, "000605", "57014", "Identified SQL statement is not currently executing.")
}

// toDuckDB spells a statement of the service for DuckDB: placeholders by number, texts with escapes, names of types and of the
// information schema.
func toDuckDB(sql string) string {
	var out strings.Builder
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			n := 1
			for ; i+n < len(sql) && sql[i+n] != c; n++ {
				if c == '\'' && sql[i+n] == '\\' {
					n++
				}
			}
			n = min(n+1, len(sql)-i)
			text := sql[i : i+n]
			if c == '\'' {
				text = strings.NewReplacer(`\\`, `\`, `\'`, `''`).Replace(text)
			}
			out.WriteString(strings.ReplaceAll(text, `"INFORMATION_SCHEMA"`, "fake_information"))
			i += n
		case c == ':' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9' && (i == 0 || sql[i-1] != ':'):
			out.WriteByte('$')
			i++
		case c == '[' && i > 0 && sql[i-1] == '"': // behind what has its first element at 0
			out.WriteString("[1 + ")
			i++
		default:
			n, word := spelled(sql[i:])
			out.WriteString(word)
			i += n
		}
	}
	return out.String()
}

var changing = regexp.MustCompile(`^(/\*[^*]*\*/ )?(CREATE|INSERT|DROP) `)

// duckWords are DuckDB's for types of the service, for what makes tables there, and for its generator of rows, which come in order.
var duckWords = [][2]string{{"TRANSIENT ", ""}, {" DATA_RETENTION_TIME_IN_DAYS = 0", ""}, {" FLOAT", " DOUBLE"},
	{"TABLE(FLATTEN(INPUT => PARSE_JSON(", "(SELECT unnest(CAST(CAST("}, {`))) AS "u"`, ` AS JSON) AS VARCHAR[][])) AS "VALUE") AS "u"`}, {"TABLE(GENERATOR(ROWCOUNT => ", "range("}, {")) ORDER BY i", ")"}, {"(ORDER BY NULL)", "()"},
	{" NUMBER(", " DECIMAL("}, {"TIMESTAMP_NTZ(6)", "TIMESTAMP"}, {"TIMESTAMP_LTZ(6)", "TIMESTAMPTZ"}, {"TIMESTAMP_TZ(6)", "TIMESTAMPTZ"}}

// spelled is how DuckDB spells what a statement begins with, of which it takes up so many bytes.
func spelled(sql string) (int, string) {
	for _, t := range duckWords {
		if strings.HasPrefix(sql, t[0]) {
			return len(t[0]), t[1]
		}
	}
	return 1, sql[:1]
}
