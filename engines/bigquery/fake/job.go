package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// job is a statement. It has ended when the first of its rows are there: the rest of them is computed when they are read, where
// the service has them in a table.
type job struct {
	fake  *Project
	id    string
	order *rest.Job
	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{}
	ended sync.Once
	err   error
	rows  *rows
	read  atomic.Int64 // streams of its rows that are being read
}

// mostResults is how many results of jobs are there to be read: the service has them on disks.
const mostResults = 16

var (
	jobForm   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	labelForm = regexp.MustCompile(`^[\p{Ll}0-9_-]{0,63}$`)
)

// aliases are names that a statement gives, to columns of its result above all.
var aliases = regexp.MustCompile("AS `([^`]*)`")

// wrong says what is wrong with an order.
func (p *Project) wrong(o *rest.Job) string {
	c := o.Configuration
	switch {
	case c == nil || c.Query == nil || o.JobReference == nil || o.JobReference.ProjectId != Name:
		return "the order is not one of a query"
	case o.JobReference.Location != "" && o.JobReference.Location != "EU":
		return "Not found: Dataset " + Name + ":any was not found in location " + o.JobReference.Location
	case c.DryRun == jobForm.MatchString(o.JobReference.JobId):
		return "a job needs an id, and a dry run has none"
	case c.Query.UseLegacySql == nil || *c.Query.UseLegacySql:
		return "the statement would be one of legacy SQL"
	case len(c.Query.ConnectionProperties) != 1 || c.Query.ConnectionProperties[0].Key != "time_zone" || c.Query.ConnectionProperties[0].Value != "UTC":
		return "the time zone is not UTC"
	case (c.Query.ParameterMode == "NAMED") != (len(c.Query.QueryParameters) > 0):
		return "the mode of parameters"
	}
	for _, m := range aliases.FindAllStringSubmatch(c.Query.Query, -1) {
		if strings.ContainsAny(m[1], "!\"$()*,./;?@[\\]^{}~") {
			return "Invalid field name \"" + m[1] + "\""
		}
	}
	for name, value := range c.Labels {
		if !labelForm.MatchString(name) || !labelForm.MatchString(value) || name == "" {
			return "label " + name + " " + value
		}
	}
	for i, q := range c.Query.QueryParameters {
		if q.Name != "p"+strconv.Itoa(i+1) || q.ParameterType == nil || q.ParameterValue == nil || parameterForms[q.ParameterType.Type] == nil {
			return "parameter " + q.Name
		}
		if v := q.ParameterValue.Value; !parameterForms[q.ParameterType.Type].MatchString(v) && v != "" { // which may be none
			return "Invalid value for parameter " + q.Name + ": " + v
		}
	}
	return ""
}

// nulls are the parameters without a value, which the order's own type does not tell from an empty one.
type nulls struct {
	Configuration struct {
		Query struct {
			Parameters []struct {
				Value struct {
					Value *string `json:"value"`
				} `json:"parameterValue"`
			} `json:"queryParameters"`
		} `json:"query"`
	} `json:"configuration"`
}

func (p *Project) insert(w http.ResponseWriter, r *http.Request) {
	var o rest.Job
	var n nulls
	var raw json.RawMessage
	if json.NewDecoder(r.Body).Decode(&raw) != nil || json.Unmarshal(raw, &o) != nil || json.Unmarshal(raw, &n) != nil {
		refuse(w, http.StatusBadRequest, "parseError", "Parse Error")
		return
	}
	if why := p.wrong(&o); strings.HasPrefix(why, "Not found") {
		refuse(w, http.StatusNotFound, "notFound", "%s", why)
		return
	} else if why != "" {
		refuse(w, http.StatusBadRequest, "invalid", "%s", why)
		return
	}
	q := engines.Query{SQL: p.placed(toDuckDB(o.Configuration.Query.Query))}
	for _, v := range n.Configuration.Query.Parameters {
		q.Args = append(q.Args, v.Value.Value)
	}
	if !o.Configuration.DryRun {
		o.Configuration.Query.DestinationTable = &rest.TableReference{ProjectId: Name, DatasetId: "_results", TableId: "anon" + o.JobReference.JobId}
	}
	o.JobReference.Location = "EU"
	bytes := p.Bytes.Load()
	o.Statistics = &rest.JobStatistics{TotalBytesProcessed: bytes}
	p.mu.Lock()
	p.ordered = append(p.ordered, &o)
	_, known := p.jobs[o.JobReference.JobId]
	p.mu.Unlock()
	if why := p.unfiltered(o.Configuration.Query.Query); why != "" {
		refuse(w, http.StatusBadRequest, "invalidQuery", "%s", why)
		return
	}
	switch most := o.Configuration.Query.MaximumBytesBilled; {
	case known:
		refuse(w, http.StatusConflict, "duplicate", "Already Exists: Job %s:%s", Name, o.JobReference.JobId)
	case o.Configuration.DryRun:
		p.dryRun(w, r, &o, q)
	case most > 0 && most < bytes:
		refuse(w, http.StatusBadRequest, "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: %d. %d or higher required.", most, bytes)
	case insertForm.MatchString(q.SQL):
		p.change(w, &o, q)
	default:
		p.start(w, &o, q)
	}
}

// dryRun looks at a statement.
func (p *Project) dryRun(w http.ResponseWriter, r *http.Request, o *rest.Job, q engines.Query) {
	s, err := p.open(r.Context(), q)
	if err != nil {
		refuseStatement(w, err)
		return
	}
	_ = s.Close()
	answer(w, http.StatusOK, o)
}

func (p *Project) start(w http.ResponseWriter, o *rest.Job, q engines.Query) {
	j := &job{fake: p, id: o.JobReference.JobId, order: o, done: make(chan struct{})}
	j.ctx, j.stop = context.WithCancel(context.Background())
	p.mu.Lock()
	p.jobs[j.id] = j
	p.results = append(p.results, j)
	for len(p.results) > mostResults && p.results[0].idle() {
		p.results[0].end()
		p.results = p.results[1:]
	}
	p.mu.Unlock()
	p.Running.Add(1)
	go j.run(q)
	if p.Lost.Add(-1) >= 0 {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
			return
		}
	}
	answer(w, http.StatusOK, o)
}

func (j *job) run(q engines.Query) {
	defer close(j.done)
	defer j.fake.Running.Add(-1)
	stream, err := j.fake.open(j.ctx, q)
	if err != nil {
		j.err = err
		return
	}
	if j.rows, j.err = newRows(j.ctx, j.fake, stream); j.err != nil {
		_ = stream.Close()
	}
}

// idle reports whether a job has ended, and nobody reads its rows.
func (j *job) idle() bool {
	select {
	case <-j.done:
		return j.read.Load() == 0
	default:
		return false
	}
}

// end is for a job that nobody wants any more.
func (j *job) end() {
	j.stop()
	<-j.done
	j.ended.Do(func() {
		if j.rows != nil {
			j.rows.close()
		}
	})
}

func (p *Project) find(w http.ResponseWriter, r *http.Request) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[r.PathValue("job")]
	if j == nil || r.URL.Query().Get("location") != "EU" && r.URL.Query().Get("location") != "" {
		refuse(w, http.StatusNotFound, "notFound", "Not found: Job %s:%s", Name, r.PathValue("job"))
		return nil
	}
	return j
}

func (p *Project) get(w http.ResponseWriter, r *http.Request) {
	if j := p.find(w, r); j != nil {
		answer(w, http.StatusOK, p.order(j))
	}
}

func (p *Project) cancel(w http.ResponseWriter, r *http.Request) {
	if j := p.find(w, r); j != nil {
		j.end()
		answer(w, http.StatusOK, map[string]any{"kind": "bigquery#jobCancelResponse", "job": p.order(j)})
	}
}

// order is that of a job as it stands.
func (p *Project) order(j *job) rest.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *j.order
}

// await waits for a job as long as it is told to.
func (p *Project) await(w http.ResponseWriter, r *http.Request) {
	j := p.find(w, r)
	if j == nil {
		return
	}
	wait, err := strconv.Atoi(r.URL.Query().Get("timeoutMs"))
	if err != nil || r.URL.Query().Get("maxResults") != "0" {
		refuse(w, http.StatusBadRequest, "invalid", "rows are not read so: %s", r.URL.RawQuery)
		return
	}
	late := time.NewTimer(time.Duration(wait) * time.Millisecond)
	defer late.Stop()
	out := &rest.GetQueryResultsResponse{JobReference: j.order.JobReference}
	select {
	case <-late.C:
	case <-r.Context().Done():
		return
	case <-j.done:
		switch {
		case j.ctx.Err() != nil:
			refuse(w, http.StatusBadRequest, "stopped", "Job execution was cancelled: User requested cancellation")
			return
		case j.err != nil:
			refuseStatement(w, j.err)
			return
		}
		if out.JobComplete = true; p.Short.Load() {
			out.TotalRows = 1 << 40
		}
	}
	answer(w, http.StatusOK, out)
}

// complaints are what the service says of statements that DuckDB refuses.
var complaints = map[string]string{
	"42601": "Syntax error: %s at [1:1]", "42703": "Unrecognized name: %s at [1:8]", "42883": "Function not found: %s at [1:8]", "22012": "division by zero: %s",
	"22P02": "Bad int64 value: %s", "22003": "int64 overflow: %s",
}

func refuseStatement(w http.ResponseWriter, err error) {
	e := pgerr.From(err)
	switch form := complaints[e.Code]; {
	case e.Code == "42P01":
		refuse(w, http.StatusNotFound, "notFound", "Not found: Table %s was not found in location EU", e.Message)
	case form != "":
		refuse(w, http.StatusBadRequest, "invalidQuery", form, e.Message)
	default:
		refuse(w, http.StatusBadRequest, "invalidQuery", "%s", e.Message)
	}
}

var errGone = fmt.Errorf("the job has been cancelled")
