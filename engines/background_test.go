package engines

import (
	"context"
	"errors"
	"testing"

	"github.com/sluicedb/sluice/pgerr"
)

// TestCancelAgain asks a server to cancel a statement until it is in reach, and once where it says something.
func TestCancelAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answers []error
		asked   int
	}{
		"cancelled":    {[]error{nil}, 1},
		"ended":        {[]error{pgerr.New(pgerr.UndefinedObject, "no such statement")}, 1},
		"no error":     {[]error{errors.New("what Postgres has no word for")}, 1},
		"out of reach": {[]error{pgerr.New(pgerr.FdwUnableToConnect, "refused"), pgerr.New(pgerr.CannotConnectNow, "starting"), nil}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b Background
			asked, done := 0, make(chan struct{})
			b.Cancel(func(context.Context) error {
				err := c.answers[asked]
				if asked++; asked == len(c.answers) {
					close(done)
				}
				return err
			})
			<-done
			b.Close()
			if asked != c.asked {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestBackgroundClose ends what goes on, and what is asked of a server that stays out of reach.
func TestBackgroundClose(t *testing.T) {
	var b Background
	asked := make(chan struct{}, 1)
	b.Cancel(func(context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return pgerr.New(pgerr.ConnectionFailure, "gone")
	})
	began := make(chan struct{})
	b.While(t.Context(), func(ctx context.Context) {
		close(began)
		<-ctx.Done()
	})
	<-asked
	<-began
	b.Close()
}
