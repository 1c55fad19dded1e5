package snowflake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/snowflakedb/gosnowflake"
)

// gate is what the library's requests go through. Only those of the protocol that this package needs pass, and those for parts of
// results. A request that fails is answered at once, since the library would make it again, with waits of its own: what had failed
// is noted in the trouble of the request's context.
type gate struct {
	host      string // and port of the server
	plain     bool   // http is allowed
	short     time.Duration
	transport *http.Transport
}

const (
	// silence is how long the server may take to begin an answer. It answers a statement that computes within 45 seconds, to be asked
	// again.
	silence = 2 * time.Minute
	// farewell is how long requests may take that nobody waits for.
	farewell = 10 * time.Second
	// mostAnswer bounds an answer of the server, which has rows of small results.
	mostAnswer = 64 << 20
)

func newGate(c *gosnowflake.Config, timeout time.Duration) *gate {
	return &gate{host: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), plain: c.Protocol == "http", short: timeout, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: timeout}).DialContext, TLSHandshakeTimeout: timeout,
		ResponseHeaderTimeout: silence, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}}
}

// trouble is what happened to the requests of one call of the library.
type trouble struct{ err error }

type troubleKey struct{}

// noting has what happens to requests under a context noted.
func noting(ctx context.Context) (context.Context, *trouble) {
	t := &trouble{}
	return context.WithValue(ctx, troubleKey{}, t), t
}

// limits are the paths of the protocol that pass, with the time that answers may take as a whole; none where results are waited for.
func (g *gate) limits(path string) (limit time.Duration, passes bool) {
	switch {
	case path == "/session/v1/login-request", path == "/session/token-request":
		return g.short, true
	case path == "/session", path == "/session/heartbeat", path == abortPath:
		return farewell, true
	case path == "/queries/v1/query-request", strings.HasPrefix(path, "/queries/") && strings.HasSuffix(path, "/result"):
		return 0, true
	}
	return 0, false
}

const abortPath = "/queries/v1/abort-request"

// RoundTrip sends a request.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.pass(req)
	if err == nil || req.Context().Err() != nil {
		return resp, err
	}
	if t, ok := req.Context().Value(troubleKey{}).(*trouble); ok {
		t.err = err
	}
	return &http.Response{Status: "421 Misdirected Request", StatusCode: http.StatusMisdirectedRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func (g *gate) pass(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !(g.plain && req.URL.Host == g.host) {
		return nil, errors.New("the server names an address that is none by https")
	}
	limit, passes := g.limits(req.URL.Path)
	switch {
	case req.Header.Get("Authorization") == "" && req.Method == http.MethodGet:
		return g.transport.RoundTrip(req) // a part of a result, whose address bears its own credentials
	case !passes || hostPort(req.URL) != g.host:
		return nil, fmt.Errorf("a request for %s is none that is sent", req.URL.Path)
	case limit == 0:
		return g.query(req)
	}
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	defer cancel()
	resp, err := g.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	if req.URL.Path == abortPath && bytes.Contains(body, []byte(notExecuting)) {
		time.Sleep(abortPause)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

const (
	// notExecuting is what the server says of a statement that has ended, or that it has not begun with: the library aborts it again
	// then, some times, at once.
	notExecuting = "000605"
	abortPause   = 20 * time.Millisecond
)

// query asks for a statement's result. The server takes a request with an id that it knows for the same, so that one is sent again
// on another connection where the one kept had ended.
func (g *gate) query(req *http.Request) (*http.Response, error) {
	again := req.Clone(req.Context())
	again.Header["X-Idempotency-Key"] = nil // which is how net/http is told; it is not sent
	resp, err := g.transport.RoundTrip(again)
	if err == nil {
		resp.Body = &bounded{ReadCloser: resp.Body, left: mostAnswer}
	}
	return resp, err
}

// bounded is an answer that is an error where it goes on for too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return n, fmt.Errorf("an answer is longer than %d bytes", mostAnswer)
	}
	return n, err
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
}
