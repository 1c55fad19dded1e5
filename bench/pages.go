package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pageSize is how many rows a page of these has.
const pageSize = 50

// sorted is an order that a table is paged in, with an index that has it.
type sorted struct {
	what, table, order string
	keys               string // of the index
	bare               string // finds what comes after a row, $1 and so on being its keys, without more
	depth              int    // rows before the deep page
}

var sorts = []sorted{
	{"unique", "feature", "id", "", "id > $1", 100_000 * pageSize},
	{"no NULLs, ties", "record", "created_at, id", "created_at, id", "(created_at, id) > ($1, $2)", 100_000},
	{"no NULLs, down", "record", "created_at DESC, id DESC", "created_at, id", "(created_at, id) < ($1, $2)", 100_000},
	{"with NULLs", "record", "rank, id", "rank, id", "(rank, id) > ($1, $2)", 100_000},
	{"NULLs last, down", "record", "rank DESC NULLS LAST, id DESC", "rank, id", "(rank, id) < ($1, $2)", 100_000},
	{"both directions", "record", "schema_id, created_at DESC, id", "schema_id, created_at DESC, id", "schema_id = $1 AND created_at < $2", 100_000},
}

// pages reads pages of tables of home, the first and a deep one, beside what comes after a row by its keys in an index alone, and beside OFFSET.
func pages(ctx context.Context, r *rig, report *report) (err error) {
	records, err := r.startRecords(ctx)
	if err != nil {
		return err
	}
	defer func() { err = records.end(err) }()
	b := &paging{rig: r, recordsRig: records}
	if b.asking, err = pgconn.Connect(ctx, "postgres://postgres@"+records.addr+"/"+database); err != nil {
		return err
	}
	defer b.asking.Close(context.WithoutCancel(ctx))
	for _, s := range sorts {
		if s.keys != "" {
			if err := b.plain.exec(ctx, "CREATE INDEX ON "+s.table+" ("+s.keys+")"); err != nil {
				return err
			}
		}
		if err := b.measure(ctx, s, report); err != nil {
			return fmt.Errorf("%s: %w", s.order, err)
		}
	}
	return nil
}

type paging struct {
	*rig
	*recordsRig
	asking *pgconn.PgConn // through Sluice, where an answer matters
}

// value asks for a row, its values in text form.
func (b *paging) value(ctx context.Context, sql string) ([]string, error) {
	results, err := b.asking.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%w (%.200s)", err, sql)
	}
	rows := results[len(results)-1].Rows
	if len(rows) == 0 {
		return nil, fmt.Errorf("no row (%.200s)", sql)
	}
	values := make([]string, len(rows[0]))
	for i, v := range rows[0] {
		values[i] = string(v)
	}
	return values, nil
}

// measure reads the first and the deep page of one order.
func (b *paging) measure(ctx context.Context, s sorted, report *report) error {
	query := fmt.Sprintf("SELECT * FROM %s ORDER BY %s", s.table, s.order)
	var names []string
	for _, k := range strings.Split(s.order, ", ") {
		names = append(names, strings.Fields(k)[0])
	}
	token, err := b.token(ctx, query, s, names)
	if err != nil {
		return err
	}
	keys, err := b.value(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s OFFSET %d LIMIT 1", strings.Join(names, ", "), s.table, s.order, s.depth-1))
	if err != nil {
		return err
	}
	bare := s.bare
	for i, k := range keys {
		bare = strings.ReplaceAll(bare, "$"+strconv.Itoa(i+1), "'"+k+"'")
	}
	plain := fmt.Sprintf("SELECT * FROM %s WHERE %s ORDER BY %s LIMIT %d", s.table, bare, s.order, pageSize+1)
	if err := b.ours.exec(ctx, "DEALLOCATE ALL; PREPARE page (text) AS SELECT * FROM sluice.page('"+query+"', "+strconv.Itoa(pageSize)+", $1)"); err != nil {
		return err
	}
	for _, page := range []struct{ what, after, offset string }{{"the first", "NULL", "0"}, {"after " + count(float64(s.depth)) + " rows", "'" + token + "'", strconv.Itoa(s.depth)}} {
		call := fmt.Sprintf("SELECT * FROM sluice.page('%s', %d, %s)", query, pageSize, page.after)
		read, err := b.read(ctx, call)
		if err != nil {
			return err
		}
		took, err := b.turn(ctx, plain, fmt.Sprintf("%s OFFSET %s LIMIT %d", query, page.offset, pageSize), call, "EXECUTE page ("+page.after+")")
		if err != nil {
			return err
		}
		more := median(took[3]) - median(took[0])
		report.add(line{
			what:   fmt.Sprintf("page of %s by %s (%s), %s", s.table, s.order, s.what, page.what),
			values: [3]string{fmt.Sprintf("%.2f ms, OFFSET %.2f ms", median(took[0]), median(took[1])), "", fmt.Sprintf("%.2f ms, prepared %.2f ms", median(took[2]), median(took[3]))},
			ratio:  fmt.Sprintf("%+.2f ms prepared, %d rows read", more, read), goal: "≤ +2 ms, ≤ 55 rows", reached: more <= 2 && read <= pageSize+5,
		})
	}
	return nil
}

// token returns the token of a row, by its keys: the extension makes it from what the token of the first row is good for.
func (b *paging) token(ctx context.Context, query string, s sorted, names []string) (string, error) {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = "to_jsonb(" + name + ") #>> '{}'"
	}
	v, err := b.value(ctx, fmt.Sprintf(`SELECT (sluice.page_tokens(
		(SELECT substr(decode(rpad(translate(page_token, '-_', '+/'), (length(page_token) + 3) / 4 * 4, '='), 'base64'), 4, 20) FROM sluice.page('%s', 1)),
		(SELECT ARRAY[json_build_array(%s)::text, NULL] FROM %s ORDER BY %s OFFSET %d LIMIT 1)))[1]`, query, strings.Join(texts, ", "), s.table, s.order, s.depth-1))
	if err != nil {
		return "", err
	}
	return v[0], nil
}

// turn times statements, in turns: two that home runs by itself, two of pages.
func (b *paging) turn(ctx context.Context, statements ...string) ([4][]float64, error) {
	const times = 20
	var took [4][]float64
	for i := range b.turns * times {
		for j, sql := range statements {
			if j == 1 && i >= b.turns { // OFFSET takes long
				continue
			}
			c := b.plain
			if j > 1 {
				c = b.ours
			}
			d, err := c.query(ctx, sql)
			if err != nil {
				return took, err
			}
			took[j] = append(took[j], float64(d.total)/float64(time.Millisecond))
		}
	}
	return took, nil
}

var scannedRows = regexp.MustCompile(`(?:Index Scan|Index Only Scan|Seq Scan|Bitmap Heap Scan)[^\n]* on [^\n]*actual rows=(\d+)`)

// read returns how many rows the scans of a statement read.
func (b *paging) read(ctx context.Context, sql string) (n int, err error) {
	results, err := b.asking.Exec(ctx, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+sql).ReadAll()
	if err != nil {
		return 0, err
	}
	for _, row := range results[0].Rows {
		if m := scannedRows.FindStringSubmatch(string(row[0])); m != nil {
			k, _ := strconv.Atoi(m[1])
			n += k
		}
	}
	return n, nil
}
