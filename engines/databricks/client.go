package databricks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// client sends requests to one workspace. All methods may be called concurrently.
type client struct {
	base        *url.URL
	api         *http.Client // each request and its answer within the time that an option says
	files       *http.Client // of results: reading takes as long as it takes
	credentials credentials
}

func newClient(s engines.Server) (*client, error) {
	base, err := baseURL(s.Options["host"])
	if err != nil {
		return nil, err
	}
	timeout := seconds(s.Options["connect_timeout"], 30*time.Second)
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: timeout}).DialContext, TLSHandshakeTimeout: timeout,
		ResponseHeaderTimeout: timeout, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
	return &client{
		base: base, api: &http.Client{Transport: transport, Timeout: 2 * timeout}, files: &http.Client{Transport: transport},
		credentials: credentials{token: s.Mapping["token"], id: s.Mapping["client_id"], secret: s.Mapping["client_secret"]},
	}, nil
}

// mostBody bounds what is read of an answer, which bears no rows.
const mostBody = 16 << 20

func readBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBody+1))
	if err == nil && len(body) > mostBody {
		err = fmt.Errorf("an answer is longer than %d bytes", mostBody)
	}
	return body, err
}

// busyTries is how often a request is made that the server has put off, which is safe: it has not looked at it.
const busyTries = 5

// call sends a request of the API and decodes the answer. A token that has expired is replaced once.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	renewed := false
	for try := 1; ; try++ {
		token, err := c.credentials.bearer(ctx, c.api, c.base)
		if err != nil {
			return err
		}
		resp, answer, err := c.send(ctx, method, path, body, token)
		if err != nil {
			return unreachable(ctx, err)
		}
		switch {
		case resp.StatusCode == http.StatusOK:
			if out == nil {
				return nil
			}
			return malformed(json.Unmarshal(answer, out))
		case resp.StatusCode == http.StatusUnauthorized && !renewed && c.credentials.forget(token):
			renewed = true
		case resp.StatusCode == http.StatusTooManyRequests && try < busyTries:
			if err := pause(ctx, retryAfter(resp, try)); err != nil {
				return err
			}
		default:
			return refused(resp.StatusCode, answer)
		}
	}
}

func (c *client) send(ctx context.Context, method, path string, body []byte, token string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "sluice")
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.api.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := readBody(resp)
	return resp, answer, err
}

// file opens a part of a result. Its link bears its own credentials: none of ours go along.
func (c *client) file(ctx context.Context, l link) (io.ReadCloser, error) {
	u, err := url.Parse(l.URL)
	if err != nil || u.Scheme != "https" && u.Host != c.base.Host {
		return nil, errLink
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.URL, nil)
	if err != nil {
		return nil, errLink
	}
	for name, value := range l.Headers {
		req.Header.Set(name, value)
	}
	resp, err := c.files.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("the file of a result was refused with status %d", resp.StatusCode)
	}
	return resp.Body, nil
}

var errLink = errors.New("the link to a result is none by https")

// retryAfter is how long the server wants to be left alone, at most ten seconds.
func retryAfter(resp *http.Response, try int) time.Duration {
	const most = 10 * time.Second
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n >= 0 {
		return min(time.Duration(n)*time.Second, most)
	}
	return min(time.Duration(try)*250*time.Millisecond, most)
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
