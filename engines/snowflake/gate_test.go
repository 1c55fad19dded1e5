package snowflake

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/snowflakedb/gosnowflake"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// TestGate lets nothing pass but the protocol to the server, and parts of results: those by https, or from the server itself.
func TestGate(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	f := fake.Start(t)
	f.Advertise(other.URL)
	if _, err := read(t, open(t, server(f)), "SELECT i FROM range(10000) t(i)"); code(err) != "08006" || !strings.Contains(err.Error(), "https") {
		t.Error(err)
	}
	g := newGate(&gosnowflake.Config{Host: "127.0.0.1", Port: 1, Protocol: "http"}, time.Second)
	for url, authorization := range map[string]string{
		other.URL + "/queries/v1/query-request": "token", "http://127.0.0.1:1/telemetry/send": "token", "https://127.0.0.1:2/queries/v1/query-request": "token",
		"http://169.254.169.254/latest": "",
	} {
		ctx, trouble := noting(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, err := g.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusMisdirectedRequest || trouble.err == nil {
			t.Errorf("%s: %v %v %v", url, resp, err, trouble.err)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests went elsewhere", asked.Load())
	}
}

// TestBounded ends an answer that goes on for too long.
func TestBounded(t *testing.T) {
	b := &bounded{ReadCloser: io.NopCloser(strings.NewReader("12345")), left: 4}
	if text, err := io.ReadAll(b); err == nil {
		t.Errorf("%s", text)
	}
	b = &bounded{ReadCloser: io.NopCloser(strings.NewReader("1234")), left: 4}
	if text, err := io.ReadAll(b); err != nil || string(text) != "1234" {
		t.Errorf("%s %v", text, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestForgotten cancels a statement just as its answer comes, which the library then drops without closing it.
func TestForgotten(t *testing.T) {
	f := fake.Start(t)
	before := goleak.IgnoreCurrent()
	e := open(t, server(f))
	ctx, cancel := context.WithCancel(t.Context())
	g := e.config.Transporter
	e.config.Transporter = roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := g.RoundTrip(req)
		if req.URL.Path == "/queries/v1/query-request" {
			cancel()
		}
		return resp, err
	})
	if _, err := e.Open(ctx, engines.Query{SQL: "SELECT 1"}); code(err) != pgerr.QueryCanceled {
		t.Errorf("%v", err)
	}
	e.config.Transporter = g
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}
