package databricks

import (
	"context"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const statementsPath = "/api/2.0/sql/statements"

// order is what a warehouse is told to execute.
type order struct {
	Warehouse   string      `json:"warehouse_id"`
	Statement   string      `json:"statement"`
	Catalog     string      `json:"catalog,omitempty"`
	Parameters  []parameter `json:"parameters,omitempty"`
	Disposition string      `json:"disposition"`
	Format      string      `json:"format"`
	WaitTimeout string      `json:"wait_timeout"`
}

// parameter is a value that the statement names; without one it is NULL.
type parameter struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
	Type  string  `json:"type"`
}

// answer is what the service says of a statement.
type answer struct {
	ID     string `json:"statement_id"`
	Status struct {
		State string  `json:"state"`
		Error failure `json:"error"`
	} `json:"status"`
	Manifest manifest `json:"manifest"`
	Result   result   `json:"result"`
}

// manifest describes a result.
type manifest struct {
	Schema struct {
		Columns []remoteColumn `json:"columns"`
	} `json:"schema"`
	Chunks    *int   `json:"total_chunk_count"`
	Rows      *int64 `json:"total_row_count"`
	Truncated bool   `json:"truncated"`
}

// result is where a part of the rows is.
type result struct {
	Links []link `json:"external_links"`
}

// link leads to one file of a result, for some minutes.
type link struct {
	Chunk   int               `json:"chunk_index"`
	Rows    int64             `json:"row_count"`
	URL     string            `json:"external_link"`
	Next    *int              `json:"next_chunk_index"`
	Headers map[string]string `json:"http_headers"`
}

// submitted is how long a request to execute a statement may take that nobody waits for any more: once it is answered, the
// statement can be cancelled.
const submitted = time.Minute

// execute runs a statement up to where its result can be read.
func (e *Engine) execute(ctx context.Context, q engines.Query) (*answer, error) {
	if ctx.Err() != nil {
		return nil, pgerr.Ended(ctx)
	}
	id, err := e.submit(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := e.await(ctx, id)
	if err != nil {
		if ctx.Err() != nil {
			e.cancel(id)
			return nil, pgerr.Ended(ctx)
		}
		return nil, err
	}
	if a.Manifest.Truncated {
		return nil, pgerr.Hint(pgerr.New(pgerr.ProgramLimitExceeded, "the result is larger than the service yields"), "Ask for fewer rows or columns.")
	}
	return a, nil
}

// submit hands in a statement. The service does not wait for it, so that there is always something to cancel.
func (e *Engine) submit(ctx context.Context, q engines.Query) (id string, err error) {
	type outcome struct {
		id  string
		err error
	}
	done := make(chan outcome, 1)
	o := order{Warehouse: e.warehouse, Statement: q.Tag.Comment() + named(q.SQL), Catalog: e.catalog, Disposition: "EXTERNAL_LINKS", Format: "ARROW_STREAM", WaitTimeout: "0s"}
	for i, v := range q.Args {
		o.Parameters = append(o.Parameters, parameter{Name: "p" + strconv.Itoa(i+1), Value: v, Type: "STRING"})
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), submitted)
		defer cancel()
		var a answer
		err := e.client.call(ctx, "POST", statementsPath, o, &a)
		if err == nil && a.ID == "" {
			err = malformed(errNoID)
		}
		done <- outcome{a.ID, err}
	}()
	select {
	case got := <-done:
		return got.id, got.err
	case <-ctx.Done():
		go func() {
			if got := <-done; got.err == nil {
				e.cancel(got.id)
			}
		}()
		return "", pgerr.Ended(ctx)
	}
}

// A statement is asked after at once, and then ever more rarely.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

func (e *Engine) await(ctx context.Context, id string) (*answer, error) {
	for wait := firstPause; ; wait = min(wait*3/2, longestPause) {
		var a answer
		if err := e.client.call(ctx, "GET", statementsPath+"/"+id, nil, &a); err != nil {
			return nil, err
		}
		switch a.Status.State {
		case "PENDING", "RUNNING":
		case "SUCCEEDED":
			a.ID = id
			return &a, nil
		case "FAILED":
			return nil, a.Status.Error.postgres()
		case "CANCELED":
			return nil, pgerr.New(pgerr.QueryCanceled, "the statement was cancelled at the warehouse")
		default:
			return nil, pgerr.New(pgerr.FdwError, "the statement is in state %q", a.Status.State)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// links asks where a part of a result is, and for how long.
func (e *Engine) links(ctx context.Context, id string, chunk int) (*result, error) {
	var r result
	err := e.client.call(ctx, "GET", statementsPath+"/"+id+"/result/chunks/"+strconv.Itoa(chunk), nil, &r)
	return &r, err
}

// cancel ends a statement at the warehouse. It does not wait for that.
func (e *Engine) cancel(id string) {
	e.background.Cancel(func(ctx context.Context) error {
		return e.client.call(ctx, "POST", statementsPath+"/"+id+"/cancel", nil, nil)
	})
}

// named turns the parameters $1, $2 … of a statement into those that the service knows, by name. Texts, identifiers and
// comments stay as they are.
func named(sql string) string {
	out := make([]byte, 0, len(sql)+8)
	for i := 0; i < len(sql); {
		if n := quotedAt(sql[i:]); n > 0 {
			out = append(out, sql[i:i+n]...)
			i += n
			continue
		}
		if sql[i] == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9' {
			out = append(out, ":p"...)
		} else {
			out = append(out, sql[i])
		}
		i++
	}
	return string(out)
}

// quotedAt is the length of the text, identifier or comment that begins here, 0 for none.
func quotedAt(sql string) int {
	end := byte(0)
	switch {
	case sql[0] == '\'' || sql[0] == '"' || sql[0] == '`':
		end = sql[0]
	case len(sql) > 1 && sql[:2] == "--":
		end = '\n'
	default:
		return 0
	}
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && end != '`' && end != '\n':
			i++
		case sql[i] == end:
			return i + 1
		}
	}
	return len(sql)
}
