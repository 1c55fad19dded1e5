package bigquery

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	rest "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/googleapi"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// result is what a job has left behind.
type result struct {
	job   *rest.JobReference
	table *rest.TableReference
	rows  int64 // that the service says there are, 0 where it does not
}

// submitted is how long a request to run a job may take that nobody waits for any more: once it is answered, the job can be
// cancelled.
const submitted = time.Minute

// execute runs a statement up to where its result can be read.
func (e *Engine) execute(ctx context.Context, q engines.Query) (*result, error) {
	if ctx.Err() != nil {
		return nil, pgerr.Ended(ctx)
	}
	r, err := e.submit(ctx, q)
	if err != nil {
		return nil, err
	}
	if err = e.await(ctx, r); err != nil {
		if ctx.Err() != nil {
			e.cancel(r.job)
			return nil, pgerr.Ended(ctx)
		}
		return nil, err
	}
	return r, nil
}

// job is what the service is told to run. The project may have another default time zone than UTC.
func (e *Engine) job(q engines.Query) *rest.Job {
	standard := false
	text, types := named(q.SQL)
	query := &rest.JobConfigurationQuery{
		Query: text, UseLegacySql: &standard, MaximumBytesBilled: e.limits.bytes,
		ConnectionProperties: []*rest.ConnectionProperty{{Key: "time_zone", Value: "UTC"}},
	}
	for i, v := range q.Args {
		if i == 0 {
			query.ParameterMode = "NAMED"
		}
		query.QueryParameters = append(query.QueryParameters, parameter(i+1, v, types[i+1]))
	}
	return &rest.Job{
		JobReference:  &rest.JobReference{ProjectId: e.project, Location: e.location, JobId: jobID()},
		Configuration: &rest.JobConfiguration{Query: query, JobTimeoutMs: e.limits.timeout, Labels: labels(q.Tag)},
	}
}

// jobID names a job before the service knows of it, so that it runs once however often it is asked for, and can be cancelled.
func jobID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return "sluice-" + hex.EncodeToString(b[:])
}

// labels show on whose behalf a job runs, in the letters that labels have. They are no part of the text, by which the service
// finds results that it has already.
func labels(t engines.Tag) map[string]string {
	if t == (engines.Tag{}) {
		return nil
	}
	return map[string]string{"sluice_role": label(t.Role), "sluice_id": label(t.ID)}
}

func label(text string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(text))
	return out[:min(len(out), 63)]
}

// submit has the service run a job. Nobody waits for an answer when the statement is cancelled, but the job is.
func (e *Engine) submit(ctx context.Context, q engines.Query) (*result, error) {
	type outcome struct {
		job *rest.Job
		err error
	}
	done := make(chan outcome, 1)
	job := e.job(q)
	ref := job.JobReference
	e.background.Go(func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), submitted)
		defer stop()
		answer, err := e.insert(ctx, job)
		done <- outcome{answer, err}
	})
	select {
	case got := <-done:
		if got.err != nil {
			return nil, got.err
		}
		if err := ended(got.job); err != nil {
			return nil, err
		}
		r := &result{job: got.job.JobReference}
		if got.job.Configuration != nil && got.job.Configuration.Query != nil {
			r.table = got.job.Configuration.Query.DestinationTable
		}
		if r.job == nil {
			r.job = ref
		}
		return r, nil
	case <-ctx.Done():
		e.background.Go(func() {
			if got := <-done; got.err == nil {
				e.cancel(ref)
			}
		})
		return nil, pgerr.Ended(ctx)
	}
}

// ended is the failure that a job has ended with, if it has.
func ended(job *rest.Job) error {
	if job.Status == nil || job.Status.ErrorResult == nil {
		return nil
	}
	return refused(0, job.Status.ErrorResult.Reason, job.Status.ErrorResult.Message)
}

func (e *Engine) insert(ctx context.Context, job *rest.Job) (*rest.Job, error) {
	return call(ctx, e.client, func(ctx context.Context) (*rest.Job, error) {
		answer, err := e.client.rest.Jobs.Insert(e.project, job).Context(ctx).Do()
		var ge *googleapi.Error
		if errors.As(err, &ge) && ge.Code == 409 { // an earlier request has come through, though its answer has not
			return e.client.rest.Jobs.Get(e.project, job.JobReference.JobId).Location(job.JobReference.Location).Context(ctx).Do()
		}
		return answer, err
	})
}

// atOnce is how long the service waits for a job before it says that this has not ended yet.
const atOnce = 10 * time.Second

// await returns when a job has ended, and the table that has its result is known.
func (e *Engine) await(ctx context.Context, r *result) error {
	patient := &client{rest: e.client.rest, timeout: e.client.timeout + atOnce}
	for {
		got, err := call(ctx, patient, func(ctx context.Context) (*rest.GetQueryResultsResponse, error) {
			return e.client.rest.Jobs.GetQueryResults(r.job.ProjectId, r.job.JobId).Location(r.job.Location).MaxResults(0).TimeoutMs(atOnce.Milliseconds()).Context(ctx).Do()
		})
		switch {
		case err != nil:
			return err
		case got.JobComplete:
			r.rows = int64(got.TotalRows)
			return e.locate(ctx, r)
		}
	}
}

// locate asks which table has the result, where the service has not said so before.
func (e *Engine) locate(ctx context.Context, r *result) error {
	if r.table != nil && r.table.TableId != "" {
		return nil
	}
	job, err := call(ctx, e.client, func(ctx context.Context) (*rest.Job, error) {
		return e.client.rest.Jobs.Get(r.job.ProjectId, r.job.JobId).Location(r.job.Location).Context(ctx).Do()
	})
	if err != nil {
		return err
	}
	if err := ended(job); err != nil {
		return err
	}
	if job.Configuration != nil && job.Configuration.Query != nil {
		r.table = job.Configuration.Query.DestinationTable
	}
	if r.table == nil || r.table.TableId == "" {
		return pgerr.New(pgerr.ProtocolViolation, "the service does not say where the rows of job %s are", r.job.JobId)
	}
	return nil
}

// dryRun has the service look at a statement, and returns how many bytes it would process.
func (e *Engine) dryRun(ctx context.Context, q engines.Query) (int64, error) {
	job := e.job(q)
	job.Configuration.DryRun, job.JobReference.JobId = true, ""
	answer, err := call(ctx, e.client, func(ctx context.Context) (*rest.Job, error) {
		return e.client.rest.Jobs.Insert(e.project, job).Context(ctx).Do()
	})
	if err != nil {
		return 0, err
	}
	if answer.Statistics == nil {
		return 0, nil
	}
	return answer.Statistics.TotalBytesProcessed, nil
}

// cancel ends a job. It does not wait for that.
func (e *Engine) cancel(job *rest.JobReference) {
	e.background.Cancel(func(ctx context.Context) error {
		_, err := call(ctx, e.client, func(ctx context.Context) (*rest.JobCancelResponse, error) {
			return e.client.rest.Jobs.Cancel(e.project, job.JobId).Location(job.Location).Context(ctx).Do()
		})
		if err != nil {
			return failure(err)
		}
		return nil
	})
}

// tries is how often a request is made that the service has put off or whose answer was lost. All are such that twice is as good as
// once.
const tries = 5

// call makes a request within the time that one may take.
func call[T any](ctx context.Context, c *client, ask func(ctx context.Context) (T, error)) (T, error) {
	for try := 1; ; try++ {
		within, stop := c.within(ctx)
		got, err := ask(within)
		stop()
		if err == nil {
			return got, nil
		}
		if try == tries || ctx.Err() != nil || !passing(err) {
			var none T
			return none, pgerr.Interrupted(ctx, failure(err))
		}
		if err := pause(ctx, time.Duration(try)*200*time.Millisecond); err != nil {
			var none T
			return none, err
		}
	}
}

// pause waits unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return pgerr.Ended(ctx)
	case <-t.C:
		return nil
	}
}
