package trino

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/trinotest"
)

// drained is 20 million rows, a number, an amount and a text each, which the cluster makes up: BenchmarkDrain reads them by the engine,
// and as a client does that reads each page by the standard library's JSON.
const (
	drained    = 20_000_000
	drainedSQL = "SELECT a.i * 10000 + b.i AS i, CAST(a.i * 10000 + b.i AS decimal(12,2)) / 8 AS n, 'label ' || CAST(b.i % 1000 AS varchar) AS s " +
		"FROM UNNEST(sequence(0, 1999)) AS a (i) CROSS JOIN UNNEST(sequence(0, 9999)) AS b (i)"
)

func BenchmarkDrain(b *testing.B) {
	remote := trinotest.Start(b)
	e, err := Wrapper{}.Open(b.Context(), engines.Server{Name: "s", Options: map[string]string{"host": remote.Host, "port": remote.Port, "secure": "false"}, Mapping: map[string]string{"user": "test"}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for name, read := range map[string]func(b *testing.B) (int, error){
		"library": func(b *testing.B) (int, error) { return readPages(b, "http://"+remote.Address()) },
		"engine":  func(b *testing.B) (int, error) { return readEngine(b, e) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if rows, err := read(b); rows != drained || err != nil {
					b.Fatalf("%d rows, %v", rows, err)
				}
			}
			b.ReportMetric(drained*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func first(b *testing.B, began time.Time) {
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first")
}

func readEngine(b *testing.B, e engines.Engine) (rows int, err error) {
	began := time.Now()
	s, err := e.Open(b.Context(), engines.Query{SQL: drainedSQL})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		batch, err := s.Next(b.Context())
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if rows == 0 {
			first(b, began)
		}
		rows += batch.NumRows()
	}
}

func readPages(b *testing.B, base string) (rows int, err error) {
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	began, method, url, body := time.Now(), http.MethodPost, base+"/v1/statement", drainedSQL
	for url != "" {
		p, err := readPage(b, &client, method, url, body)
		if err != nil {
			return rows, err
		}
		if rows == 0 && len(p.Data) > 0 {
			first(b, began)
		}
		rows += len(p.Data)
		method, url, body = http.MethodGet, p.NextURI, ""
	}
	return rows, nil
}

// plainPage is a page as a client without a reader of its own has it.
type plainPage struct {
	NextURI string   `json:"nextUri"`
	Data    [][]any  `json:"data"`
	Error   *failure `json:"error"`
}

func readPage(b *testing.B, client *http.Client, method, url, body string) (p plainPage, err error) {
	req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return p, err
	}
	req.Header.Set("X-Trino-User", "test")
	resp, err := client.Do(req)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	if err = d.Decode(&p); err == nil && p.Error != nil {
		err = errors.New(p.Error.Message)
	}
	return p, err
}
