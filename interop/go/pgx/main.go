// Command pgx runs the checks with jackc/pgx.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicedb/sluice/interop/go/check"
)

var (
	item   = check.Schema + ".item"
	series = check.Schema + ".series"
	sink   = check.Schema + ".sink"
)

func main() {
	check.Main(describe, map[string]check.Func{
		"connect":    connect,
		"introspect": with(introspect),
		"types":      types,
		"prepared":   with(prepared),
		"cursor":     with(cursor),
		"pipeline":   with(pipeline),
		"copy":       with(copies),
		"cancel":     with(cancels),
		"rollback":   with(rollback),
		"errors":     failures,
	})
}

func describe(err error) string {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Sprintf("%T %s %s %s", pe, pe.Severity, pe.Code, check.Anonymous(pe.Message))
	}
	return fmt.Sprintf("%T - %v", err, err)
}

// with gives a check a connection.
func with(use func(context.Context, *pgx.Conn, check.Say) error) check.Func {
	return func(ctx context.Context, say check.Say) (err error) {
		conn, err := pgx.Connect(ctx, check.URL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
		return use(ctx, conn, say)
	}
}

func connect(ctx context.Context, say check.Say) error {
	for _, options := range []string{"", "?application_name=interop&search_path=" + check.Schema} {
		conn, err := pgx.Connect(ctx, check.URL+options)
		if err != nil {
			return err
		}
		for _, name := range strings.Fields("server_version server_encoding client_encoding DateStyle TimeZone IntervalStyle standard_conforming_strings is_superuser session_authorization application_name") {
			say("%s=%s", name, conn.PgConn().ParameterStatus(name))
		}
		say("secret key %v, ping %v", len(conn.PgConn().SecretKey()) > 0, conn.Ping(ctx))
		if err := conn.Close(ctx); err != nil {
			return err
		}
	}
	pool, err := pgxpool.New(ctx, check.URL+"?pool_max_conns=3")
	if err != nil {
		return err
	}
	defer pool.Close()
	for i := range 5 {
		var n int
		err := pool.QueryRow(ctx, "SELECT count(*) + $1::int FROM "+item, i).Scan(&n)
		say("pool %d %v", n, err)
	}
	wrong, err := pgx.ParseConfig(check.URL)
	if err != nil {
		return err
	}
	wrong.Password = "wrong"
	_, err = pgx.ConnectConfig(ctx, wrong)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		say("wrong password: %s", describe(pe))
	}
	return nil
}

func introspect(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	for _, table := range []string{item, series, sink} {
		d, err := conn.Prepare(ctx, "", "SELECT * FROM "+table)
		if err != nil {
			return err
		}
		for _, f := range d.Fields {
			say("%s %d %d %d %d %v", f.Name, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.TableAttributeNumber, f.TableOID != 0)
		}
	}
	rows, err := conn.Query(ctx, `SELECT t.table_name, t.table_type, t.is_insertable_into, c.column_name, c.udt_name, c.is_updatable
		FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
		WHERE t.table_schema = $1 ORDER BY 1, c.ordinal_position`, check.Schema)
	if err != nil {
		return err
	}
	return print(rows, say, "column")
}

// print says each row.
func print(rows pgx.Rows, say check.Say, what string) error {
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		say("%s %s", what, show(values))
	}
	if rows.Err() == nil {
		say("%s %v", what, rows.CommandTag())
	}
	return rows.Err()
}

func show(values []any) string {
	var out []string
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			var pairs []string
			for _, k := range slices.Sorted(maps.Keys(m)) {
				pairs = append(pairs, fmt.Sprintf("%s:%#v", k, m[k]))
			}
			v = pairs
		}
		switch v := v.(type) {
		case time.Time:
			out = append(out, v.UTC().Format(time.RFC3339Nano))
		case string:
			out = append(out, fmt.Sprintf("%q", v))
		default:
			out = append(out, fmt.Sprintf("%T(%v)", v, v))
		}
	}
	return strings.Join(out, " ")
}

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

func types(ctx context.Context, say check.Say) error {
	for _, mode := range modes {
		err := with(func(ctx context.Context, conn *pgx.Conn, say check.Say) error { return typesIn(ctx, conn, say, mode) })(ctx, say)
		if err != nil {
			return fmt.Errorf("%v: %w", mode, err)
		}
	}
	return nil
}

// typesIn reads and writes in one of pgx's ways to run a statement.
func typesIn(ctx context.Context, conn *pgx.Conn, say check.Say, mode pgx.QueryExecMode) error {
	rows, err := conn.Query(ctx, "SELECT * FROM "+item+" WHERE id <= $1 ORDER BY id", mode, 60)
	if err != nil {
		return err
	}
	if err := print(rows, say, mode.String()); err != nil {
		return err
	}
	for _, id := range []int{1, 2, 3, 77} {
		row, err := rowOf(ctx, conn, id)
		if err != nil {
			return err
		}
		for i, v := range row {
			var found []int32
			err := conn.QueryRow(ctx, "SELECT array_agg(id ORDER BY id) FROM "+item+" WHERE "+check.Columns[i]+" = $1", mode, v).Scan(&found)
			if err != nil {
				say("%v %d %s: %s", mode, id, check.Columns[i], describe(err))
				continue
			}
			say("%v %d %s: %v", mode, id, check.Columns[i], found)
		}
	}
	at := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	rows, err = conn.Query(ctx, "INSERT INTO "+sink+" VALUES ($1, $2, $3, $4, $5, $6), ($7, NULL, NULL, NULL, NULL, NULL) RETURNING *", mode,
		7, "é \"q\" \\ \n", "12.50", int16(-3), at, []byte{0, 1, 255}, 8)
	if err != nil {
		return err
	}
	if err := print(rows, say, "written"); err != nil {
		return err
	}
	tag, err := conn.Exec(ctx, "DELETE FROM "+sink+" WHERE id = ANY($1)", mode, []int32{7, 8, 9})
	say("%v %v", mode, tag)
	return err
}

func rowOf(ctx context.Context, conn *pgx.Conn, id int) ([]any, error) {
	rows, err := conn.Query(ctx, "SELECT * FROM "+item+" WHERE id = $1", id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
}

func prepared(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	d, err := conn.Prepare(ctx, "by id", "SELECT id, name, price FROM "+item+" WHERE id BETWEEN $1 AND $2 ORDER BY id")
	if err != nil {
		return err
	}
	say("%s %v %d", d.Name, d.ParamOIDs, len(d.Fields))
	for _, pair := range [][2]any{{1, 3}, {7, 7}, {500, 600}, {"x", 1}, {11, 12}, {nil, 1}} {
		rows, err := conn.Query(ctx, "by id", pair[0], pair[1])
		if err == nil {
			err = print(rows, say, "row")
		}
		if err != nil {
			say("%s", describe(err))
		}
	}
	if err := conn.Deallocate(ctx, "by id"); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "EXECUTE \"by id\" (1, 2)")
	say("deallocated: %s", describe(err))
	say("%v", conn.DeallocateAll(ctx))
	rows, err := conn.Query(ctx, "SELECT id FROM "+item+" WHERE id < $1 ORDER BY id", 4)
	if err != nil {
		return err
	}
	return print(rows, say, "again")
}

func cursor(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DECLARE c SCROLL CURSOR FOR SELECT n, label FROM "+series+" WHERE n > $1 ORDER BY n", 0); err != nil {
			return err
		}
		pieces, n := 0, 0
		for {
			rows, err := tx.Query(ctx, "FETCH 999 FROM c")
			if err != nil {
				return err
			}
			got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
				N     int64
				Label string
			}])
			if err != nil {
				return err
			}
			if len(got) == 0 {
				break
			}
			pieces, n = pieces+1, n+len(got)
		}
		say("%d rows in %d pieces", n, pieces)
		for _, how := range []string{"FETCH LAST FROM c", "FETCH BACKWARD 2 FROM c", "MOVE ABSOLUTE 40000 FROM c", "FETCH 1 FROM c", "CLOSE c"} {
			rows, err := tx.Query(ctx, how)
			if err != nil {
				return err
			}
			if err := print(rows, say, how); err != nil {
				return err
			}
		}
		left, err := tx.Query(ctx, "SELECT n FROM "+series+" ORDER BY n")
		if err != nil {
			return err
		}
		for range 25 {
			left.Next()
		}
		left.Close()
		say("left early %v", left.Err())
		return nil
	})
}

func pipeline(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	for _, bad := range []bool{false, true} {
		b := &pgx.Batch{}
		b.Queue("SELECT count(*) FROM " + series)
		b.Queue("SELECT 1 AS home")
		b.Queue("INSERT INTO "+sink+" (id, name) VALUES ($1, $2)", 1, "x")
		b.Queue("SELECT id, name FROM "+sink+" WHERE id = $1", 1)
		if bad {
			b.Queue("SELECT 1 / (id - 1) FROM " + item)
		}
		b.Queue("DELETE FROM "+sink+" WHERE id = $1", 1)
		r := conn.SendBatch(ctx, b)
		for range b.Len() {
			rows, err := r.Query()
			if err == nil {
				err = print(rows, say, "batch")
			}
			if err != nil {
				say("batch %s", describe(err))
			}
		}
		if err := r.Close(); err != nil {
			say("closed %s", describe(err))
		}
	}
	p := conn.PgConn().StartPipeline(ctx)
	p.SendPrepare("p", "SELECT id, name FROM "+item+" WHERE id = $1", nil)
	p.SendQueryPrepared("p", [][]byte{[]byte("5")}, nil, nil)
	p.SendQueryParams("SELECT $1::int + 1", [][]byte{[]byte("5")}, nil, nil, nil)
	p.SendFlushRequest()
	if err := p.Flush(); err != nil {
		return err
	}
	p.SendQueryParams("SELECT 1 / (id - 1) FROM "+item, nil, nil, nil, nil)
	p.SendQueryPrepared("p", [][]byte{[]byte("6")}, nil, nil)
	if err := p.Sync(); err != nil {
		return err
	}
	p.SendQueryPrepared("p", [][]byte{[]byte("7")}, nil, []int16{1})
	p.SendDeallocate("p")
	if err := p.Sync(); err != nil {
		return err
	}
	for {
		result, err := p.GetResults()
		switch r := result.(type) {
		case *pgconn.ResultReader:
			got := r.Read()
			say("pipeline rows %q %v %v", got.Rows, got.CommandTag, got.Err)
		case *pgconn.StatementDescription:
			say("pipeline %s %v %d", r.Name, r.ParamOIDs, len(r.Fields))
		case nil:
			if err == nil {
				return p.Close()
			}
			say("pipeline %s", describe(err))
		default:
			say("pipeline %T", r)
		}
	}
}

func copies(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	for _, options := range []string{"", "WITH (FORMAT csv, HEADER, FORCE_QUOTE *)", "WITH (FORMAT binary)"} {
		var out bytes.Buffer
		tag, err := conn.PgConn().CopyTo(ctx, &out, "COPY (SELECT * FROM "+item+" ORDER BY id) TO STDOUT "+options)
		if err != nil {
			return err
		}
		say("out %q %v %d %x", options, tag, out.Len(), sha256.Sum256(out.Bytes()))
	}
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	n, err := conn.CopyFrom(ctx, pgx.Identifier{check.Schema, "sink"}, []string{"id", "name", "qty", "at", "raw"},
		pgx.CopyFromSlice(20000, func(i int) ([]any, error) {
			return []any{i, fmt.Sprintf("name %d", i), i % 1000, at.Add(time.Duration(i) * time.Second), []byte{byte(i)}}, nil
		}))
	say("CopyFrom %d %v", n, err)
	rows, err := conn.Query(ctx, "SELECT count(*), sum(id), max(name), sum(qty), max(at), sum(length(raw)) FROM "+sink)
	if err != nil {
		return err
	}
	if err := print(rows, say, "in"); err != nil {
		return err
	}
	tag, err := conn.PgConn().CopyFrom(ctx, strings.NewReader("1,a\n2,\"b,c\"\n"), "COPY "+sink+" (id, name) FROM STDIN WITH (FORMAT csv)")
	say("csv %v %v", tag, err)
	_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader("x\ta\n"), "COPY "+sink+" (id, name) FROM STDIN")
	say("bad %s", describe(err))
	tag, err = conn.Exec(ctx, "DELETE FROM "+sink)
	say("%v", tag)
	return err
}

func cancels(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	for _, text := range []string{"SELECT pg_sleep(60)", check.Endless()} {
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Exec(ctx, text)
			ended <- err
		}()
		err := until(ended, func() error { return conn.PgConn().CancelRequest(ctx) })
		say("%s", describe(err))
		var n int
		say("goes on %v %d", conn.QueryRow(ctx, "SELECT count(*) FROM "+item).Scan(&n), n)
	}
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	_, err := conn.Exec(short, check.Endless())
	say("context %v %v", errors.Is(err, context.DeadlineExceeded), conn.IsClosed())
	return nil
}

// until repeats a cancel until the statement has ended: one that comes before the statement hits nothing.
func until(ended <-chan error, cancel func() error) error {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if err := cancel(); err != nil {
				return err
			}
		}
	}
}

func rollback(ctx context.Context, conn *pgx.Conn, say check.Say) error {
	for _, end := range []error{check.ErrLeft, nil} {
		err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO "+sink+" (id, name) SELECT id, name FROM "+item+" WHERE id <= $1", 10); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "UPDATE "+sink+" SET price = id * 1.5 WHERE id > 5"); err != nil {
				return err
			}
			rows, err := tx.Query(ctx, "SELECT count(*), sum(price) FROM "+sink)
			if err != nil {
				return err
			}
			if err := print(rows, say, "within"); err != nil {
				return err
			}
			return end
		})
		say("ended with %v, %c", err, conn.PgConn().TxStatus())
		rows, err := conn.Query(ctx, "SELECT count(*), sum(price) FROM "+sink)
		if err != nil {
			return err
		}
		if err := print(rows, say, "after"); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
			_, err := inner.Exec(ctx, "SELECT 1 / (id - 1) FROM "+item)
			return err
		})
		say("savepoint %s, %c", describe(err), conn.PgConn().TxStatus())
		_, err = tx.Exec(ctx, "DELETE FROM "+sink)
		return err
	})
	say("ended with %v", err)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT 1 / (id - 1) FROM "+item)
		say("%s, %c", describe(err), conn.PgConn().TxStatus())
		return nil
	})
	say("commit of a failed one: %v", err)
	return nil
}

func failures(ctx context.Context, say check.Say) error {
	for _, mode := range modes {
		err := with(func(ctx context.Context, conn *pgx.Conn, say check.Say) error {
			for _, text := range check.Errors() {
				_, err := conn.Exec(ctx, text, mode)
				pe, ok := errors.AsType[*pgconn.PgError](err)
				if !ok {
					say("%s: %v", check.Anonymous(text), err)
					continue
				}
				at := ""
				if pe.Position > 0 {
					at = check.Anonymous(text[pe.Position-1:])
				}
				say("%v %s %q %q %q %q %q %s", mode, describe(pe), at, pe.Detail, pe.Hint, pe.TableName, pe.ColumnName, pe.Routine)
			}
			return conn.Ping(ctx)
		})(ctx, say)
		if err != nil {
			return err
		}
	}
	return nil
}
