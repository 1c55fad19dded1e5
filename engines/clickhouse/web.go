package clickhouse

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// web speaks the HTTP interface: a request for a statement, whose answer is the blocks of format Native, one behind another.
type web struct {
	config *config
	socket net.Conn
	raw    *io.LimitedReader // the socket, bounded while headers are read
	in     *bufio.Reader     // of raw

	request *http.Request // of the statement that runs, nil where none does
	id      string        // its query_id
	leaving bool          // the server ends it when the socket is closed
	answer  *http.Response
	blocks  reader // of the answer's body
	closing bool   // the server closes the connection behind the answer
}

// version is a server's, of which some know more settings than others.
type version struct{ major, minor int }

// knows reports whether a server has what came with a version.
func (v *version) knows(since version) bool {
	return v != nil && (v.major > since.major || v.major == since.major && v.minor >= since.minor)
}

func parseVersion(text string) *version {
	v := new(version)
	parts := strings.SplitN(text, ".", 3)
	v.major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		v.minor, _ = strconv.Atoi(parts[1])
	}
	return v
}

// hello asks for the server's version where it is not known, and has the server look at user, password and database so.
func (w *web) hello() error {
	if w.config.version.Load() != nil {
		return nil
	}
	return w.ping()
}

// ping has the server answer a statement.
func (w *web) ping() error {
	err := w.start(statement{sql: "SELECT version()"})
	for more := true; err == nil && more; {
		_, more, err = w.block(w.learn)
	}
	return err
}

// learn reads the block of a text that is the version.
func (w *web) learn(r *reader) (int, error) {
	columns, rows, err := header(r)
	if err != nil || columns != 1 || rows > 1 {
		return 0, either(err, malformed())
	}
	c, err := readColumn(r)
	if err != nil {
		return 0, err
	}
	text, ok := c.values.(*chars)
	if !ok {
		return 0, malformed()
	}
	if err = c.load(r, rows); err == nil && rows > 0 {
		w.config.version.Store(parseVersion(string(text.bytes)))
	}
	return rows, err
}

func either(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// Versions since which servers know settings and parameters.
var (
	sinceLeaving    = version{20, 1}
	sinceParameters = version{20, 1}
	sinceTimeZone   = version{23, 6}
	sinceJSON       = version{25, 3}
)

// start sends a statement.
func (w *web) start(s statement) error {
	w.request = w.config.post(w.begin(s), s.tag.Comment()+s.sql)
	return w.request.Write(w.socket)
}

// begin begins a statement and returns the parameters of the address. Settings are among them, in their order: readonly stands last.
func (w *web) begin(s statement) string {
	w.answer, w.leaving, w.id = nil, false, queryID(s.tag)
	var parameters strings.Builder
	add := func(name, value string) {
		parameters.WriteString("&" + name + "=" + url.QueryEscape(value))
	}
	add("query_id", w.id)
	add("database", w.config.database)
	add("default_format", "Native")
	for i, v := range s.parameters {
		add("param_"+parameterName(i), v)
	}
	if len(s.settings) > 0 {
		v := w.config.version.Load()
		reads := s.settings[len(s.settings)-1].name == "readonly" // what writes goes on when its client is gone
		if w.leaving = reads && v.knows(sinceLeaving); w.leaving {
			add("cancel_http_readonly_queries_on_client_close", "1")
		}
		if v.knows(sinceTimeZone) {
			add("session_timezone", "UTC")
		}
		if v.knows(sinceJSON) {
			add("output_format_native_write_json_as_string", "1")
			add("output_format_json_quote_64bit_integers", "0")
		}
	}
	for _, o := range s.settings {
		add(o.name, strconv.FormatUint(o.value, 10))
	}
	return parameters.String()[1:]
}

// post is a request. User and password stand in headers, which servers and what is on the way there do not log.
func (c *config) post(parameters, sql string) *http.Request {
	address := &url.URL{Scheme: "http", Host: c.address(), Path: "/", RawQuery: parameters}
	header := http.Header{"User-Agent": {clientName}, "Content-Type": {"text/plain; charset=UTF-8"}}
	if c.user != "" {
		header.Set("X-ClickHouse-User", c.user)
	}
	if c.password != "" {
		header.Set("X-ClickHouse-Key", c.password)
	} else if c.certificate != "" {
		header.Set("X-ClickHouse-SSL-Certificate-Auth", "on")
	}
	return &http.Request{
		Method: http.MethodPost, URL: address, Host: address.Host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(sql)), ContentLength: int64(len(sql)),
	}
}

// leave ends what runs. A server that would not notice that the socket is closed is told on another.
func (w *web) leave() {
	if w.request == nil || w.leaving {
		return
	}
	_ = w.socket.Close()
	ctx, stop := context.WithTimeout(context.Background(), cancelTime)
	defer stop()
	socket, err := w.config.connect(ctx)
	if err != nil {
		return
	}
	defer socket.Close()
	_ = socket.SetDeadline(time.Now().Add(cancelTime))
	if w.config.post("", "KILL QUERY WHERE query_id = "+quote(w.id)).Write(socket) == nil {
		_, _ = socket.Read(make([]byte, 1)) // what it answers says nothing: the statement may have ended by itself
	}
}

// binds reports whether the server takes parameters.
func (w *web) binds() bool { return w.config.version.Load().knows(sinceParameters) }

func (w *web) reusable() bool { return !w.closing }
