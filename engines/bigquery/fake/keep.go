package fake

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// upload is one whose job is not made yet.
type upload struct {
	order rest.Job
	data  bytes.Buffer
}

// homeTypes are Postgres' names of the service's types.
var homeTypes = map[string]string{
	"BOOL": "boolean", "INT64": "bigint", "FLOAT64": "double precision", "STRING": "text", "BYTES": "bytea", "DATE": "date", "TIME": "time without time zone",
	"DATETIME": "timestamp without time zone", "TIMESTAMP": "timestamp with time zone", "NUMERIC": "numeric", "BIGNUMERIC": "numeric",
}

var columnForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// columnsOf are those of a table that a request makes; false where the service would not.
func columnsOf(t *rest.Table) ([]engines.Column, bool) {
	var columns []engines.Column
	for _, f := range t.Schema.Fields {
		typ := homeTypes[f.Type]
		if typ == "numeric" {
			typ = fmt.Sprintf("numeric(%d,%d)", f.Precision, f.Scale)
		}
		if typ == "" || !columnForm.MatchString(f.Name) || f.Mode != "NULLABLE" {
			return nil, false
		}
		columns = append(columns, engines.Column{Name: f.Name, Type: typ})
	}
	return columns, true
}

// transact runs a transaction of the DuckDB, which has tables that requests make in a schema of its own.
func (p *Project) transact(ctx context.Context, work func(tx engines.Tx) error) error {
	tx, err := p.duck.Begin(ctx)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit(ctx)
}

func (p *Project) makeTable(w http.ResponseWriter, r *http.Request) {
	var t rest.Table
	dataset := r.PathValue("dataset")
	if json.NewDecoder(r.Body).Decode(&t) != nil || t.Schema == nil || t.TableReference == nil || t.TableReference.DatasetId != dataset || !columnForm.MatchString(t.TableReference.TableId) {
		refuse(w, http.StatusBadRequest, "invalid", "no table")
		return
	}
	columns, ok := columnsOf(&t)
	if !ok {
		refuse(w, http.StatusBadRequest, "invalid", "Invalid schema")
		return
	}
	name := t.TableReference.TableId
	if err := p.transact(r.Context(), func(tx engines.Tx) error { return tx.(engines.Maker).Make(r.Context(), name, columns) }); err != nil {
		refuse(w, http.StatusConflict, "duplicate", "%s", err)
		return
	}
	p.mu.Lock()
	p.kept = append(p.kept, table{dataset: dataset, name: name})
	p.made = append(p.made, t)
	p.mu.Unlock()
	answer(w, http.StatusOK, t)
}

func (p *Project) dropTable(w http.ResponseWriter, r *http.Request) {
	dataset, name := r.PathValue("dataset"), r.PathValue("table")
	p.mu.Lock()
	i := slices.IndexFunc(p.kept, func(t table) bool { return t.dataset == dataset && t.name == name })
	if i >= 0 {
		p.kept = slices.Delete(p.kept, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 {
		refuse(w, http.StatusNotFound, "notFound", "Not found: Table %s:%s.%s", Name, dataset, name)
		return
	}
	if err := p.duck.(engines.Keeper).Forget(r.Context(), name); err != nil {
		refuse(w, http.StatusInternalServerError, "internalError", "%s", err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// table is what a request has made of a name, nil where none has, or it was dropped.
func (p *Project) table(name string) *rest.Table {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.made {
		if p.made[i].TableReference.TableId == name && slices.ContainsFunc(p.kept, func(t table) bool { return t.name == name }) {
			return &p.made[i]
		}
	}
	return nil
}

// placed is a statement for the schema in which the DuckDB has what requests have made.
func (p *Project) placed(sql string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.kept {
		sql = strings.ReplaceAll(sql, `"`+t.dataset+`"."`+t.name+`"`, `"main"."`+t.name+`"`)
	}
	return sql
}

// upload takes an order with rows, or the order of an upload that comes in parts.
func (p *Project) upload(w http.ResponseWriter, r *http.Request) {
	u := &upload{}
	switch r.URL.Query().Get("uploadType") {
	case "multipart":
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		for i := range 2 {
			part, err := parts.NextPart()
			if err == nil && i == 0 {
				err = json.NewDecoder(part).Decode(&u.order)
			} else if err == nil {
				_, err = io.Copy(&u.data, part)
			}
			if err != nil {
				refuse(w, http.StatusBadRequest, "parseError", "%s", err)
				return
			}
		}
		p.load(w, u)
	case "resumable":
		if err := json.NewDecoder(r.Body).Decode(&u.order); err != nil {
			refuse(w, http.StatusBadRequest, "parseError", "%s", err)
			return
		}
		p.mu.Lock()
		p.uploads[u.order.JobReference.JobId] = u
		p.mu.Unlock()
		w.Header().Set("Location", p.URL+"/uploads/"+u.order.JobReference.JobId)
		w.WriteHeader(http.StatusOK)
	default:
		refuse(w, http.StatusBadRequest, "invalid", "uploadType")
	}
}

var rangeForm = regexp.MustCompile(`^bytes (?:(\d+)-(\d+)|\*)/(\*|\d+)$`)

// part takes a part of an upload; the last one makes the job.
func (p *Project) part(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	u := p.uploads[r.PathValue("upload")]
	p.mu.Unlock()
	m := rangeForm.FindStringSubmatch(r.Header.Get("Content-Range"))
	if u == nil || m == nil || m[1] != "" && m[1] != strconv.Itoa(u.data.Len()) || !p.accepts(r.Header.Get("Authorization")) {
		refuse(w, http.StatusBadRequest, "invalid", "part %s", r.Header.Get("Content-Range"))
		return
	}
	if _, err := io.Copy(&u.data, r.Body); err != nil {
		return
	}
	if m[3] == "*" {
		w.Header().Set("X-Http-Status-Code-Override", "308")
		w.Header().Set("Range", "bytes=0-"+strconv.Itoa(u.data.Len()-1))
		w.WriteHeader(http.StatusOK)
		return
	}
	p.load(w, u)
}

// load runs a job that adds lines of JSON to a table.
func (p *Project) load(w http.ResponseWriter, u *upload) {
	o := &u.order
	p.mu.Lock()
	p.ordered = append(p.ordered, o)
	p.mu.Unlock()
	c := o.Configuration
	if c == nil || c.Load == nil || c.Load.SourceFormat != "NEWLINE_DELIMITED_JSON" || c.Load.CreateDisposition != "CREATE_NEVER" || c.Load.WriteDisposition != "WRITE_APPEND" || c.Load.DestinationTable == nil || !jobForm.MatchString(o.JobReference.JobId) {
		refuse(w, http.StatusBadRequest, "invalid", "the order is not one of a load")
		return
	}
	p.write(w, o, func(ctx context.Context) (*rest.JobStatistics, error) {
		n, err := p.loadLines(ctx, c.Load.DestinationTable, &u.data)
		return &rest.JobStatistics{Load: &rest.JobStatistics3{OutputRows: n}}, err
	})
}

// write starts a job that writes, and answers with it.
func (p *Project) write(w http.ResponseWriter, o *rest.Job, work func(ctx context.Context) (*rest.JobStatistics, error)) {
	o.Status, o.JobReference.Location = &rest.JobStatus{State: "RUNNING"}, "EU"
	j := &job{fake: p, id: o.JobReference.JobId, order: o, done: make(chan struct{})}
	j.ctx, j.stop = context.WithCancel(context.Background())
	begun := *o
	p.mu.Lock()
	p.jobs[j.id] = j
	p.mu.Unlock()
	p.Running.Add(1)
	go func() {
		defer close(j.done)
		defer p.Running.Add(-1)
		statistics, err := work(j.ctx)
		ended := &rest.JobStatus{State: "DONE"}
		if err != nil {
			ended.ErrorResult = &rest.ErrorProto{Reason: "invalid", Message: pgerr.From(err).Message}
		}
		p.mu.Lock()
		o.Status, o.Statistics = ended, statistics
		p.mu.Unlock()
	}()
	answer(w, http.StatusOK, &begun)
}

func (p *Project) loadLines(ctx context.Context, to *rest.TableReference, data io.Reader) (n int64, err error) {
	t := p.table(to.TableId)
	if t == nil {
		return 0, pgerr.New(pgerr.UndefinedTable, "Not found: Table %s", to.TableId)
	}
	names := make([]string, len(t.Schema.Fields))
	for i, f := range t.Schema.Fields {
		names[i] = f.Name
	}
	err = p.transact(ctx, func(tx engines.Tx) error {
		n, err = tx.Insert(ctx, engines.Target{Relation: to.TableId}, names, &lines{fields: t.Schema.Fields, from: json.NewDecoder(data)})
		return err
	})
	return n, err
}

// lines are rows of JSON as a stream of texts.
type lines struct {
	fields []*rest.TableFieldSchema
	from   *json.Decoder
}

func (l *lines) Fields() []engines.Field {
	fields := make([]engines.Field, len(l.fields))
	for i, f := range l.fields {
		if fields[i].OID = 25; f.Type == "BYTES" {
			fields[i].OID = 17
		}
	}
	return fields
}

// Close does nothing.
func (l *lines) Close() error { return nil }

// Next returns some rows, in frames.
func (l *lines) Next(context.Context) (engines.Batch, error) {
	var out engines.Frames
	for out.Rows < 1000 {
		var line map[string]*string
		if err := l.from.Decode(&line); err == io.EOF && out.Rows > 0 {
			break
		} else if err != nil {
			return nil, err
		}
		var body []byte
		for _, f := range l.fields {
			v := line[f.Name]
			if v == nil {
				body = append(body, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			text := *v
			if f.Type == "BYTES" {
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return nil, err
				}
				text = `\x` + hex.EncodeToString(raw)
			}
			body = append(binary.BigEndian.AppendUint32(body, uint32(len(text))), text...)
		}
		out.Data = binary.BigEndian.AppendUint32(append(out.Data, 'D'), uint32(len(body)+6))
		out.Data = append(binary.BigEndian.AppendUint16(out.Data, uint16(len(l.fields))), body...)
		out.Rows++
	}
	return out, nil
}

// insertForm is a statement that adds what it computes to a table.
var insertForm = regexp.MustCompile(`(?s)^INSERT INTO "[^"]+"\."[^"]+"\."([^"]+)" \(.*?\) (SELECT .*)$`)

// change runs a job that fills a table, which has no rows yet, with what it computes.
func (p *Project) change(w http.ResponseWriter, o *rest.Job, q engines.Query) {
	m := insertForm.FindStringSubmatch(q.SQL)
	t := p.table(m[1])
	if t == nil {
		refuse(w, http.StatusNotFound, "notFound", "Not found: Table %s", m[1])
		return
	}
	columns, _ := columnsOf(t)
	p.write(w, o, func(ctx context.Context) (*rest.JobStatistics, error) {
		var n int64
		err := p.duck.(engines.Keeper).Forget(ctx, m[1])
		if err == nil {
			err = p.transact(ctx, func(tx engines.Tx) error {
				var ok bool
				var err error
				if n, ok, err = tx.(engines.Maker).Fill(ctx, m[1], columns, engines.Query{SQL: p.placed(m[2]), Args: q.Args}); err == nil && !ok {
					err = pgerr.New("42804", "Query column 1 has type INT64 which cannot be inserted into column a, which has type STRING at [1:1]")
				}
				return err
			})
		}
		return &rest.JobStatistics{Query: &rest.JobStatistics2{NumDmlAffectedRows: n}}, err
	})
}

// Made are the tables that requests have made, those that were dropped too.
func (p *Project) Made() []rest.Table {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.made)
}

// Left are the names of those that were not dropped.
func (p *Project) Left() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := make([]string, len(p.kept))
	for i, t := range p.kept {
		names[i] = t.name
	}
	return names
}
