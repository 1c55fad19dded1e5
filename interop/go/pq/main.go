// Command pq runs the checks with lib/pq below database/sql.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/lib/pq"

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
		"introspect": with("", introspect),
		"types":      types,
		"prepared":   with("", prepared),
		"cursor":     with("", cursor),
		"pipeline":   check.Missing("database/sql has none"),
		"copy":       with("", copies),
		"cancel":     with("", cancels),
		"rollback":   with("", rollback),
		"errors":     with("", failures),
	})
}

func describe(err error) string {
	if pe, ok := errors.AsType[*pq.Error](err); ok {
		return fmt.Sprintf("%T %s %s %s", pe, pe.Severity, pe.Code, check.Anonymous(pe.Message))
	}
	return fmt.Sprintf("%T - %v", err, err)
}

// with gives a check a pool of two connections.
func with(options string, use func(context.Context, *sql.DB, check.Say) error) check.Func {
	return func(ctx context.Context, say check.Say) (err error) {
		db, err := sql.Open("postgres", check.URL+"?sslmode="+os.Getenv("PGSSLMODE")+options)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		db.SetMaxOpenConns(2)
		return use(ctx, db, say)
	}
}

func connect(ctx context.Context, say check.Say) error {
	err := with("&application_name=interop&search_path="+check.Schema, func(ctx context.Context, db *sql.DB, say check.Say) error {
		rows, err := db.QueryContext(ctx, "SELECT current_user, current_setting('server_version'), current_setting('application_name'), count(*) FROM item")
		if err != nil {
			return err
		}
		return print(rows, say, "session")
	})(ctx, say)
	if err != nil {
		return err
	}
	wrong, err := url.Parse(check.URL)
	if err != nil {
		return err
	}
	wrong.User = url.UserPassword(wrong.User.Username(), "wrong")
	wrong.RawQuery = "sslmode=" + os.Getenv("PGSSLMODE")
	db, err := sql.Open("postgres", wrong.String())
	if err != nil {
		return err
	}
	say("wrong password: %s", describe(db.PingContext(ctx)))
	return db.Close()
}

func introspect(ctx context.Context, db *sql.DB, say check.Say) error {
	for _, table := range []string{item, series, sink} {
		rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" WHERE false")
		if err != nil {
			return err
		}
		kinds, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		for _, k := range kinds {
			length, hasLength := k.Length()
			precision, scale, hasScale := k.DecimalSize()
			say("%s %s %v %d %v %d %d %v", k.Name(), k.DatabaseTypeName(), k.ScanType(), length, hasLength, precision, scale, hasScale)
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// print says each row.
func print(rows *sql.Rows, say check.Say, what string) error {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, pointers := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		var out []string
		for _, v := range values {
			switch v := v.(type) {
			case []byte:
				out = append(out, fmt.Sprintf("bytes %q", v))
			case string:
				out = append(out, fmt.Sprintf("%q", v))
			case time.Time:
				out = append(out, v.Format(time.RFC3339Nano))
			default:
				out = append(out, fmt.Sprintf("%T(%v)", v, v))
			}
		}
		say("%s %s", what, strings.Join(out, " "))
	}
	return rows.Err()
}

func types(ctx context.Context, say check.Say) error {
	if err := with("", typesIn)(ctx, say); err != nil {
		return err
	}
	return with("&binary_parameters=yes", typesIn)(ctx, say)
}

func typesIn(ctx context.Context, db *sql.DB, say check.Say) error {
	for _, text := range []string{"SELECT * FROM " + item + " ORDER BY id", "SELECT * FROM " + item + " WHERE id <= $1 ORDER BY id"} {
		rows, err := db.QueryContext(ctx, text, []any{50}[:strings.Count(text, "$")]...)
		if err != nil {
			return err
		}
		if err := print(rows, say, "row"); err != nil {
			return err
		}
	}
	for _, id := range []int{1, 2, 3, 77} {
		values, pointers := make([]any, len(check.Columns)), make([]any, len(check.Columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := db.QueryRowContext(ctx, "SELECT * FROM "+item+" WHERE id = $1", id).Scan(pointers...); err != nil {
			return err
		}
		for i, v := range values {
			if b, ok := v.([]byte); ok && check.Columns[i] != "raw" {
				v = string(b)
			}
			var found pq.Int64Array
			err := db.QueryRowContext(ctx, "SELECT array_agg(id ORDER BY id) FROM "+item+" WHERE "+check.Columns[i]+" = $1", v).Scan(&found)
			if err != nil {
				say("%d %s: %s", id, check.Columns[i], describe(err))
				continue
			}
			say("%d %s: %v", id, check.Columns[i], found)
		}
	}
	at := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	rows, err := db.QueryContext(ctx, "INSERT INTO "+sink+" VALUES ($1, $2, $3, $4, $5, $6) RETURNING *", 7, "é \"q\" \\ \n", "12.50", -3, at, []byte{0, 1, 255})
	if err != nil {
		return err
	}
	if err := print(rows, say, "written"); err != nil {
		return err
	}
	result, err := db.ExecContext(ctx, "DELETE FROM "+sink+" WHERE id = ANY($1)", pq.Array([]int{7, 8, 9}))
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	say("deleted %d %v", n, err)
	return nil
}

func prepared(ctx context.Context, db *sql.DB, say check.Say) error {
	statement, err := db.PrepareContext(ctx, "SELECT id, name, price FROM "+item+" WHERE id BETWEEN $1 AND $2 ORDER BY id")
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, pair := range [][2]any{{1, 3}, {7, 7}, {500, 600}, {"x", 1}, {11, 12}, {nil, 1}} {
		rows, err := statement.QueryContext(ctx, pair[0], pair[1])
		if err == nil {
			err = print(rows, say, "row")
		}
		if err != nil {
			say("%s", describe(err))
		}
	}
	return nil
}

func cursor(ctx context.Context, db *sql.DB, say check.Say) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "DECLARE c CURSOR FOR SELECT n, label FROM "+series+" ORDER BY n"); err != nil {
		return err
	}
	for _, how := range []string{"FETCH 3", "FETCH 1000", "MOVE 40000", "FETCH NEXT"} {
		rows, err := tx.QueryContext(ctx, how+" FROM c")
		if err != nil {
			return err
		}
		n, last := 0, int64(0)
		for rows.Next() {
			var label string
			if err := rows.Scan(&last, &label); err != nil {
				return err
			}
			n++
		}
		say("%s %d %d %v", how, n, last, rows.Err())
	}
	rows, err := tx.QueryContext(ctx, "SELECT n FROM "+series+" ORDER BY n")
	if err != nil {
		return err
	}
	for range 25 {
		rows.Next()
	}
	say("left early %v", rows.Close())
	return tx.Commit()
}

func copies(ctx context.Context, db *sql.DB, say check.Say) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	statement, err := tx.PrepareContext(ctx, pq.CopyInSchema(check.Schema, "sink", "id", "name", "qty", "at", "raw"))
	if err != nil {
		return err
	}
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 20000 {
		if _, err := statement.ExecContext(ctx, i, fmt.Sprintf("name\t%d", i), i%1000, at.Add(time.Duration(i)*time.Second), []byte{byte(i)}); err != nil {
			return err
		}
	}
	result, err := statement.ExecContext(ctx)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	say("in %d %v %v", n, err, statement.Close())
	rows, err := tx.QueryContext(ctx, "SELECT count(*), sum(id), max(name), sum(qty), max(at), sum(length(raw)) FROM "+sink)
	if err != nil {
		return err
	}
	if err := print(rows, say, "in"); err != nil {
		return err
	}
	say("%v", tx.Rollback())
	bad, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = bad.Rollback() }()
	if statement, err = bad.PrepareContext(ctx, pq.CopyInSchema(check.Schema, "sink", "id", "name")); err != nil {
		return err
	}
	if _, err = statement.ExecContext(ctx, "x", "y"); err == nil {
		_, err = statement.ExecContext(ctx)
	}
	say("bad %s", describe(err))
	return nil
}

func cancels(ctx context.Context, db *sql.DB, say check.Say) error {
	for _, text := range []string{"SELECT pg_sleep(60)", check.Endless()} {
		short, stop := context.WithTimeout(ctx, time.Second)
		_, err := db.ExecContext(short, text)
		stop()
		say("%s", describe(err))
		var n int
		say("goes on %v %d", db.QueryRowContext(ctx, "SELECT count(*) FROM "+item).Scan(&n), n)
	}
	return nil
}

func rollback(ctx context.Context, db *sql.DB, say check.Say) error {
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return err
		}
		for _, text := range []string{"INSERT INTO " + sink + " (id, name) SELECT id, name FROM " + item + " WHERE id <= 10", "UPDATE " + sink + " SET price = id * 1.5 WHERE id > 5"} {
			result, err := tx.ExecContext(ctx, text)
			if err != nil {
				return errors.Join(err, tx.Rollback())
			}
			n, err := result.RowsAffected()
			say("affected %d %v", n, err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		var n int
		say("commit %v: %v, %v %d", commit, err, db.QueryRowContext(ctx, "SELECT count(*) FROM "+sink).Scan(&n), n)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "SELECT 1 / (id - 1) FROM "+item)
	say("%s", describe(err))
	_, err = tx.ExecContext(ctx, "SELECT count(*) FROM "+item)
	say("%s", describe(err))
	say("commit of a failed one: %v", tx.Commit())
	_, err = db.ExecContext(ctx, "DELETE FROM "+sink)
	return err
}

func failures(ctx context.Context, db *sql.DB, say check.Say) error {
	for _, text := range check.Errors() {
		_, err := db.ExecContext(ctx, text)
		pe, ok := errors.AsType[*pq.Error](err)
		if !ok {
			say("%s: %v", check.Anonymous(text), err)
			continue
		}
		say("%s %s %q %q %q %q %s", describe(pe), pe.Code.Name(), pe.Detail, pe.Hint, pe.Table, pe.Column, pe.Routine)
	}
	return db.PingContext(ctx)
}
