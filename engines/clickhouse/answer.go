package clickhouse

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"github.com/sluicedb/sluice/pgerr"
)

// maxHeaders bounds the memory that headers of an answer may take.
const maxHeaders = 1 << 20

// receive reads the beginning of an answer, and all of one that is an error.
func (w *web) receive() error {
	w.raw.N = maxHeaders
	answer, err := http.ReadResponse(w.in, w.request)
	exhausted := w.raw.N <= 0
	w.raw.N = math.MaxInt64
	switch {
	case err == io.ErrUnexpectedEOF && exhausted:
		return tooLarge()
	case err == io.EOF, err == io.ErrUnexpectedEOF, isNetwork(err):
		return err
	case err != nil:
		return notHTTP(err.Error())
	}
	w.answer, w.closing = answer, answer.Close
	w.blocks.Reset(answer.Body)
	if answer.StatusCode != http.StatusOK || answer.Header.Get(codeHeader) != "" {
		return w.refusal()
	}
	if answer.ContentLength < 0 && !slices.Contains(answer.TransferEncoding, "chunked") {
		return notHTTP("an answer does not say where it ends")
	}
	return nil
}

// What servers add to answers.
const (
	codeHeader = "X-ClickHouse-Exception-Code"
	marker     = "__exception__"
)

// block reads the next block: an answer ends between two of them, else it was cut short.
func (w *web) block(take func(r *reader) (rows int, err error)) (rows int, more bool, err error) {
	if w.answer == nil {
		if err := w.receive(); err != nil {
			return 0, false, err
		}
	}
	if _, err = w.blocks.Peek(1); err == io.EOF {
		w.request = nil
		return 0, false, nil
	}
	if err == nil && w.failed() {
		err = w.refusal()
	}
	if err != nil {
		return 0, false, err
	}
	w.blocks.left = maxBlock
	rows, err = take(&w.blocks)
	return rows, true, whole(err)
}

// failing is how an error begins that stands where a block would: a name of a hundred letters would have to be like it in a block
// of as many columns.
var failing = regexp.MustCompile(`^((\r?\n)?` + marker + `\r?\n|Code: [0-9]+[.,] (e\.displayText\(\) = )?DB::)`)

// longestFailure is how much of an error must be seen.
const longestFailure = 48

// failed reports whether an error stands where a block would.
func (w *web) failed() bool {
	first, _ := w.blocks.Peek(1)
	if !bytes.ContainsAny(first, "C_\r\n") {
		return false
	}
	text, _ := w.blocks.Peek(longestFailure)
	return failing.Match(text)
}

// said is what servers call an error.
var said = regexp.MustCompile(`(?s)Code: ([0-9]+)[.,] (?:e\.displayText\(\) = )?(.*)`)

// framed is what newer servers put behind an error.
var framed = regexp.MustCompile(`(?s)\r?\n[0-9]+ [a-z0-9]+\r?\n` + marker + `\s*$`)

// refusal reads an error to the end of the answer, and what it says.
func (w *web) refusal() error {
	text, err := io.ReadAll(io.LimitReader(w.blocks.Reader, maxName))
	number, message := w.answer.Header.Get(codeHeader), "the server gave no reason"
	if parts := said.FindSubmatch(framed.ReplaceAll(text, nil)); parts != nil {
		number, message = string(parts[1]), string(parts[2])
	}
	code, e := strconv.ParseInt(number, 10, 32)
	switch {
	case e == nil:
		w.request = nil
		return remote{remoteError(int32(code), message)}
	case err != nil && isNetwork(err):
		return err
	}
	return w.foreign(text)
}

// statusCodes are the SQLSTATEs of answers that come from what stands before the server.
var statusCodes = map[int]string{
	http.StatusUnauthorized: pgerr.InvalidPassword, http.StatusForbidden: pgerr.InvalidAuthorization, http.StatusProxyAuthRequired: pgerr.InvalidAuthorization,
	http.StatusTooManyRequests: pgerr.TooManyConnections, http.StatusBadGateway: pgerr.ConnectionFailure,
	http.StatusServiceUnavailable: pgerr.ConnectionFailure, http.StatusGatewayTimeout: pgerr.ConnectionFailure,
}

// foreign is the error of an answer that is none of ClickHouse's own.
func (w *web) foreign(text []byte) error {
	w.request = nil
	state, ok := statusCodes[w.answer.StatusCode]
	if !ok {
		state = pgerr.ProtocolViolation
	}
	e := pgerr.New(state, "the foreign server answered %s", clean(w.answer.Status))
	if text = bytes.TrimSpace(text[:min(len(text), 300)]); len(text) > 0 {
		e = pgerr.Detail(e, "%s", clean(string(text)))
	}
	return pgerr.Hint(e, `Check options "host", "port" (that of the HTTP interface) and "secure" of the server.`)
}

// notHTTP is the error of an answer that is no HTTP, or none that could be told from a part of it.
func notHTTP(reason string) error {
	e := pgerr.Detail(pgerr.New(pgerr.ProtocolViolation, "the foreign server sent a malformed answer"), "%s", clean(reason))
	return pgerr.Hint(e, `Check that option "port" of the server is the port of the HTTP interface.`)
}
