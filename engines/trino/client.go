package trino

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// client sends requests to one coordinator on behalf of one remote user. All methods may be called concurrently.
type client struct {
	base    *url.URL
	http    *http.Client
	headers http.Header // of each statement
	bearer  string      // what Authorization says, empty for nothing
}

// answerTimeout is how long the server may take to answer one request: it never lets wait longer than a second by itself.
const answerTimeout = time.Minute

func newClient(s engines.Server) (*client, error) {
	if err := errors.Join(checkServer(s.Options), checkMapping(s.Mapping)); err != nil {
		return nil, err
	}
	secure, err := engines.ParseBool(s.Options["secure"], true)
	if err != nil {
		return nil, err
	}
	c := &client{base: &url.URL{Scheme: "http", Host: address(s.Options, secure)}}
	if c.bearer = authorization(s.Mapping); c.bearer != "" && !secure {
		return nil, pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "a password or token is not sent without TLS"), `Set option "secure" of the server to true.`)
	}
	compress, err := engines.ParseBool(s.Options["compress"], false)
	if err != nil {
		return nil, err
	}
	timeout := 10 * time.Second
	if n, err := strconv.Atoi(s.Options["connect_timeout"]); err == nil {
		timeout = time.Duration(n) * time.Second
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: timeout}).DialContext, TLSHandshakeTimeout: timeout,
		ResponseHeaderTimeout: answerTimeout, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, DisableCompression: !compress,
		ReadBufferSize: 64 << 10,
	}
	if secure {
		c.base.Scheme = "https"
		if transport.TLSClientConfig, err = tlsConfig(s.Options); err != nil {
			return nil, err
		}
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.headers = headers(s)
	return c, nil
}

func address(options map[string]string, secure bool) string {
	host, port := options["host"], options["port"]
	if host == "" {
		host = "localhost"
	}
	if port == "" {
		port = map[bool]string{true: "8443", false: "8080"}[secure]
	}
	return net.JoinHostPort(host, strings.TrimSpace(port))
}

// authorization is what the header of this name says.
func authorization(mapping map[string]string) string {
	if token := mapping["token"]; token != "" {
		return "Bearer " + token
	}
	if password := mapping["password"]; password != "" {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(mapping["user"], password)
		return r.Header.Get("Authorization")
	}
	return ""
}

// headers are those that make a session at the server what statements of the dialect mean: UTC, and times with all their digits.
func headers(s engines.Server) http.Header {
	h := http.Header{}
	h.Set("User-Agent", "sluice")
	h.Set("X-Trino-User", s.Mapping["user"])
	h.Set("X-Trino-Source", "sluice")
	h.Set("X-Trino-Client-Tags", "sluice")
	h.Set("X-Trino-Time-Zone", "UTC")
	h.Set("X-Trino-Client-Capabilities", "PARAMETRIC_DATETIME")
	for name, option := range map[string]string{"X-Trino-Catalog": "catalog", "X-Trino-Schema": "schema"} {
		if v := s.Options[option]; v != "" && !(option == "schema" && s.Options["catalog"] == "") {
			h.Set(name, v)
		}
	}
	for _, p := range pairs(s.Options["session_properties"]) {
		h.Add("X-Trino-Session", p.name+"="+url.QueryEscape(p.value))
	}
	if n, err := strconv.Atoi(s.Options["max_execution_time"]); err == nil && n > 0 {
		h.Add("X-Trino-Session", "query_max_execution_time="+strconv.Itoa(n)+"s")
	}
	for _, p := range pairs(s.Options["role"]) {
		if p.name == "" {
			p.name = "system"
		}
		h.Add("X-Trino-Role", p.name+"="+url.QueryEscape("ROLE{"+p.value+"}"))
	}
	return h
}

func tlsConfig(options map[string]string) (*tls.Config, error) {
	trusting, err := engines.ParseBool(options["skip_verify"], false)
	if err != nil {
		return nil, err
	}
	t := &tls.Config{ServerName: options["sslservername"], InsecureSkipVerify: trusting, MinVersion: tls.VersionTLS12}
	file := options["sslrootcert"]
	if file == "" {
		return t, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, pgerr.New(pgerr.FdwInvalidOption, `could not read the file of option "sslrootcert": %s`, err)
	}
	if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(pem) {
		return nil, pgerr.New(pgerr.FdwInvalidOption, `the file of option "sslrootcert" holds no certificate`)
	}
	return t, nil
}

// following is the address of a page that an answer names: at the server that was asked, whatever host the answer says, since only
// that one is to have our credentials. Pages are asked for in the size of a batch.
func (c *client) following(named string) (*url.URL, error) {
	u, err := url.Parse(named)
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return nil, malformed(errors.New("the address of the next page is none"))
	}
	q := u.Query()
	q.Set("targetResultSize", strconv.Itoa(engines.BatchBytes>>10)+"kB")
	return &url.URL{Scheme: c.base.Scheme, Host: c.base.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: q.Encode()}, nil
}

const (
	mostBody = 256 << 20 // of one page
	keepBody = 8 << 20   // of what a page was read into, for the next one
	mostTry  = 4         // of a request that broke off, or that the server has put off
)

// call makes a request and reads the answer into body, which is emptied first. A page may be asked for again: the server keeps the last
// one. A statement is handed in again only where the server says that it has not taken it: it does not begin before its first page is
// asked for.
func (c *client) call(ctx context.Context, method string, u *url.URL, sql, tag string, body *bytes.Buffer) error {
	for try := 1; ; try++ {
		status, err := c.send(ctx, method, u, sql, tag, body)
		var again bool
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			again = method == http.MethodGet
			err = unreachable(method, err)
		case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout, status == http.StatusTooManyRequests:
			again = true
			err = refused(status, body.Bytes())
		case status == http.StatusNotFound && method != http.MethodPost:
			return refused(http.StatusGone, nil)
		case status == http.StatusOK, method == http.MethodDelete && status == http.StatusNoContent:
			return nil
		default:
			return refused(status, body.Bytes())
		}
		if !again || try == mostTry {
			return err
		}
		if err := pause(ctx, time.Duration(try)*100*time.Millisecond); err != nil {
			return err
		}
	}
}

// pause waits unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (c *client) send(ctx context.Context, method string, u *url.URL, sql, tag string, body *bytes.Buffer) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(sql))
	if err != nil {
		return 0, err
	}
	req.Header = c.headers.Clone()
	if c.bearer != "" {
		req.Header.Set("Authorization", c.bearer)
	}
	if tag != "" {
		req.Header.Set("X-Trino-Client-Info", tag)
	}
	req.Header["Idempotency-Key"] = nil // a connection that was closed while it was idle is replaced; nothing of this is sent
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if body.Cap() > keepBody {
		*body = bytes.Buffer{}
	}
	body.Reset()
	n, err := body.ReadFrom(io.LimitReader(resp.Body, mostBody+1))
	if err == nil && n > mostBody {
		return 0, pgerr.New(pgerr.ProgramLimitExceeded, "a page of rows is longer than %d MB", mostBody>>20)
	}
	if err == nil && resp.ContentLength >= 0 && n < resp.ContentLength {
		err = fmt.Errorf("an answer has %d bytes of %d", n, resp.ContentLength)
	}
	return resp.StatusCode, err
}
