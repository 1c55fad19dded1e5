package bigquery

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// uploadChunk is how much of the rows waits until it is sent, as one request.
const uploadChunk = 4 << 20

// load is one job that adds rows to a table, all or none. They are uploaded as lines of JSON while they come.
type load struct {
	e       *Engine
	columns []keep.Column
	order   *rest.Job
	to      *io.PipeWriter
	stop    context.CancelFunc
	done    chan struct{}
	job     *rest.Job // that the service has made of the order, once done
	err     error
	rows    int64
}

// Insert begins to add rows.
func (e *Engine) Insert(ctx context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	order := &rest.Job{
		JobReference: &rest.JobReference{ProjectId: e.project, Location: e.location, JobId: jobID()},
		Configuration: &rest.JobConfiguration{JobTimeoutMs: e.limits.timeout, Load: &rest.JobConfigurationLoad{
			DestinationTable: e.kept(table), SourceFormat: "NEWLINE_DELIMITED_JSON", CreateDisposition: "CREATE_NEVER", WriteDisposition: "WRITE_APPEND",
		}},
	}
	from, to := io.Pipe()
	within, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &load{e: e, columns: columns, order: order, to: to, stop: stop, done: make(chan struct{})}
	e.background.Go(func() {
		defer close(l.done)
		l.job, l.err = e.client.rest.Jobs.Insert(e.project, order).Media(from, googleapi.ChunkSize(uploadChunk), googleapi.ContentType("application/octet-stream")).Context(within).Do()
		_ = from.CloseWithError(io.ErrClosedPipe)
	})
	return l, nil
}

// Write uploads some rows.
func (l *load) Write(ctx context.Context, rows *keep.Batch) error {
	lines, err := linesOf(rows, l.columns)
	if err != nil {
		return err
	}
	undo := context.AfterFunc(ctx, l.stop)
	defer undo()
	if _, err := l.to.Write(lines); err != nil {
		<-l.done
		if ctx.Err() != nil || l.err == nil {
			return pgerr.Interrupted(ctx, pgerr.New(pgerr.ConnectionFailure, "the upload of rows broke off"))
		}
		return failure(l.err)
	}
	l.rows += int64(rows.Rows())
	return nil
}

// End has the service load what was uploaded, and looks at whether that is all.
func (l *load) End(ctx context.Context) error {
	undo := context.AfterFunc(ctx, l.stop)
	defer undo()
	_ = l.to.Close()
	<-l.done
	if l.err != nil {
		return pgerr.Interrupted(ctx, failure(l.err))
	}
	loaded, err := l.e.written(ctx, l.job.JobReference)
	if err == nil && loaded != l.rows {
		err = pgerr.New(pgerr.ProtocolViolation, "the service has loaded %d rows of %d", loaded, l.rows)
	}
	return err
}

// Abort leaves the upload unfinished, of which no job is made then.
func (l *load) Abort() {
	l.stop()
	_ = l.to.CloseWithError(context.Canceled)
}

// written waits for a job that writes, and returns how many rows it has written. One that nobody waits for any more is cancelled.
func (e *Engine) written(ctx context.Context, ref *rest.JobReference) (int64, error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		job, err := call(ctx, e.client, func(ctx context.Context) (*rest.Job, error) {
			return e.client.rest.Jobs.Get(ref.ProjectId, ref.JobId).Location(ref.Location).Context(ctx).Do()
		})
		if err == nil {
			err = ended(job)
		}
		if err == nil && job.Status != nil && job.Status.State == "DONE" {
			return rowsWritten(job.Statistics), nil
		}
		if err == nil {
			err = pause(ctx, wait)
		}
		if err != nil {
			if ctx.Err() != nil {
				e.cancel(ref)
			}
			return 0, err
		}
	}
}

func rowsWritten(s *rest.JobStatistics) int64 {
	switch {
	case s != nil && s.Load != nil:
		return s.Load.OutputRows
	case s != nil && s.Query != nil:
		return s.Query.NumDmlAffectedRows
	}
	return 0
}

// keptForms are the spellings of values by types some values of which the service has not, or reads otherwise.
var keptForms = map[string]*regexp.Regexp{
	"DATE": regexp.MustCompile(`^\d{4}-\d\d-\d\d$`), "TIME": regexp.MustCompile(`^([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?$`), "DATETIME": regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$`),
	"TIMESTAMP": regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$`), "NUMERIC": regexp.MustCompile(`^-?\d+(\.\d+)?$`), "BIGNUMERIC": regexp.MustCompile(`^-?\d+(\.\d+)?$`),
}

// linesOf writes rows as objects of JSON, whose values are texts: numbers would lose digits.
func linesOf(rows *keep.Batch, columns []keep.Column) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	row := make(map[string]*string, len(columns))
	for i := range rows.Rows() {
		for j, c := range columns {
			v := rows.Value(i, j)
			if v == nil {
				row[c.Name] = nil
				continue
			}
			text, err := lineValue(string(v), c.Remote)
			if err != nil {
				return nil, err
			}
			row[c.Name] = &text
		}
		if err := encoder.Encode(row); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func lineValue(text, remote string) (string, error) {
	base, _, _ := strings.Cut(remote, "(")
	if form := keptForms[base]; form != nil && !form.MatchString(text) {
		return "", pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%q cannot be kept as a %s of BigQuery", text, base),
			"Cast the column in the query, for instance to text, or keep the result at home.")
	}
	switch base {
	case "BOOL":
		return map[string]string{"t": "true", "f": "false"}[text], nil
	case "BYTES":
		raw, err := hex.DecodeString(strings.TrimPrefix(text, `\x`))
		return base64.StdEncoding.EncodeToString(raw), err
	}
	return text, nil
}
