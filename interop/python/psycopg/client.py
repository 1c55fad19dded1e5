"""psycopg 3: text and binary results, pipelines, server-side cursors, COPY, cancel."""

import asyncio
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types.json import Json, Jsonb

from check import ITEM, ROWS, SCHEMA, SCRATCH, SINK, URL, describe, run


def connect(**options):
    connection = psycopg.connect(URL, **options)
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(SCHEMA)))
    if not connection.autocommit:
        connection.commit()
    return connection


def check_connect(say):
    with connect() as c:
        i = c.info
        say("server", i.server_version, "encoding", i.encoding, "user", i.user, "status", i.transaction_status.name)
        for name in ("server_version", "server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone",
                     "integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization",
                     "application_name", "in_hot_standby", "default_transaction_read_only"):
            say(name, i.parameter_status(name))
        c.execute("SET application_name TO 'interop psycopg'")
        say("after SET", i.parameter_status("application_name"), i.transaction_status.name)
    say("closed", c.closed)
    try:
        psycopg.connect(URL, password="wrong")
    except psycopg.OperationalError as e:
        say("wrong password", type(e).__name__, "password authentication failed" in str(e))
    try:
        psycopg.connect(URL, dbname="no such database")
    except psycopg.OperationalError as e:
        say("wrong database", type(e).__name__, 'database "no such database" does not exist' in str(e))

    async def later():
        async with await psycopg.AsyncConnection.connect(URL) as c:
            cursor = await c.execute("SELECT current_user, %s::int", (1,))
            return await cursor.fetchone()
    say("async", asyncio.run(later()))


def check_introspect(say):
    with connect() as c:
        for row in c.execute("""SELECT table_name, column_name, ordinal_position, is_nullable, data_type, character_maximum_length,
                numeric_precision, numeric_scale, udt_name, is_updatable FROM information_schema.columns
                WHERE table_schema = %s ORDER BY 1, 3""", (SCHEMA,)):
            say("information_schema", row)
        for row in c.execute("""SELECT relname, relkind, relnatts, relhasindex, pg_relation_is_updatable(oid, false),
                has_table_privilege(oid, 'INSERT'), obj_description(oid) FROM pg_class
                WHERE relnamespace = %s::regnamespace ORDER BY 1""", (SCHEMA,)):
            say("pg_class", row)
        for name in ("numeric", "jsonb", "_text", "interval"):
            info = psycopg.types.TypeInfo.fetch(c, name)
            say("type", info.name, info.oid, info.array_oid)


def check_types(say):
    with connect() as c:
        for binary in (False, True):
            cursor = c.cursor(binary=binary)
            for column in ITEM:
                # Some values of Postgres are beyond Python's: those are read as text.
                name = sql.Identifier(column)
                expression = sql.SQL("{}::text").format(name) if column == "atz" and not binary else name
                cursor.execute(sql.SQL("SELECT id, {} FROM item ORDER BY id").format(expression))
                for row in cursor:
                    say("binary" if binary else "text", column, row)
        for column in ITEM:
            if column in ("id", "doc", "r4"):
                continue
            name = sql.Identifier(column)
            values = c.execute(sql.SQL("SELECT DISTINCT {0} FROM item WHERE id BETWEEN 5 AND 12 AND {0} IS NOT NULL ORDER BY 1").format(name)).fetchall()
            for (value,) in values:
                for bind in ("%s", "%b", "%t"):
                    found = c.execute(sql.SQL("SELECT id FROM item WHERE {} = " + bind + " ORDER BY id LIMIT 3").format(name), (value,)).fetchall()
                    say("parameter", column, value, bind, found)
        for table in ("item", "series", "sink"):
            for binary in (False, True):
                cursor = c.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(table)), binary=binary)
                for d in cursor.description:
                    say(table, "binary" if binary else "text", d.name, d.type_code, d.type_display, d.display_size, d.internal_size,
                        d.precision, d.scale, d.null_ok)
        for query in ("SELECT id, name || 'x' AS x, price * 2 AS p, sum(big) OVER () AS s, now() - at AS age, tags[1], doc -> 'id' FROM item LIMIT 0",
                      "SELECT count(*), avg(qty), max(day), string_agg(name, ','), array_agg(id) FROM item"):
            result = c.execute(query).pgresult
            for n in range(result.nfields):
                say("column", n, result.fname(n).decode(), result.ftype(n), result.fmod(n), result.fsize(n))
        say("any", c.execute("SELECT id FROM item WHERE id = ANY(%s) ORDER BY id", ([5, 3, 999],)).fetchall())
        say("uuid list", c.execute("SELECT count(*) FROM item WHERE uid = ANY(%s)",
                                   (c.execute("SELECT array_agg(uid) FROM item WHERE id < 5").fetchone()[0],)).fetchone())
        say("row", c.execute("SELECT (id, name) FROM item WHERE id = 6").fetchone())
        say("dict", c.cursor(row_factory=dict_row).execute("SELECT id, doc, tags FROM item WHERE id = 5").fetchone())
        say("tuple", repr(c.cursor(row_factory=namedtuple_row).execute("SELECT id, qty AS q FROM item WHERE id = 5").fetchone()))
        for value in (Json({"a": [1, None]}), Jsonb([1.5, "x"])):
            say("json", c.execute("SELECT %s, id FROM item WHERE id = 1", (value,)).fetchone())


def check_prepared(say):
    with connect() as c:
        for threshold in (None, 0, 2):
            c.prepare_threshold = threshold
            for id in (1, 5, 5, 77, 200, 201):
                cursor = c.execute("SELECT id, name, price FROM item WHERE id = %s", (id,))
                say(threshold, cursor.fetchall(), cursor.rowcount, cursor.statusmessage)
            for low, high in ((1, 3), (100, 150), (7, 7)):
                say("aggregate", c.execute("SELECT count(*), sum(qty), avg(price), max(at) FROM item WHERE id BETWEEN %s AND %s", (low, high), prepare=True).fetchone())
        names = c.execute("SELECT count(*) > 0 FROM pg_prepared_statements").fetchone()
        say("prepared at the server", names)
        c.commit()
        for divisor in (2, 0, 5):
            try:
                say("division", c.execute("SELECT sum(id / %s) FROM item WHERE id < 10", (divisor,), prepare=True).fetchone())
            except psycopg.Error as e:
                say("division", describe(e), c.info.transaction_status.name)
                c.rollback()
        c.execute("DEALLOCATE ALL")
        say("after DEALLOCATE", c.execute("SELECT id FROM item WHERE id = %s", (3,), prepare=True).fetchone())
        c.execute("PREPARE named(int) AS SELECT name FROM item WHERE id = $1")
        say("PREPARE", c.execute("EXECUTE named(6)").fetchone(), c.execute("EXECUTE named(7)").fetchone())
        say("pg_prepared_statements", c.execute("SELECT name, parameter_types::text FROM pg_prepared_statements WHERE name = 'named'").fetchall())


def check_cursor(say):
    with connect() as c:
        for binary in (False, True):
            with c.cursor("pieces", binary=binary) as cursor:
                cursor.execute("SELECT n, label FROM series ORDER BY n")
                total = rows = 0
                while part := cursor.fetchmany(999):
                    rows, total = rows + len(part), total + sum(n for n, _ in part)
                say("binary" if binary else "text", rows, total, cursor.statusmessage)
        with c.cursor("early") as cursor:
            cursor.itersize = 7
            cursor.execute("SELECT n, label FROM series ORDER BY n")
            for row in cursor:
                if row[0] == 20:
                    break
            say("left at", row)
        with c.cursor("scroll", scrollable=True) as cursor:
            cursor.execute("SELECT n FROM series WHERE n <= 100 ORDER BY n")
            say("first", cursor.fetchmany(3))
            cursor.scroll(40)
            say("relative", cursor.fetchone())
            cursor.scroll(10, mode="absolute")
            say("absolute", cursor.fetchone())
            cursor.scroll(-5)
            say("back", cursor.fetchmany(2))
            cursor.scroll(99, mode="absolute")
            say("end", cursor.fetchmany(5), cursor.fetchone())
            try:
                cursor.scroll(10)
                say("beyond", cursor.fetchall())
            except IndexError as e:
                say("beyond", describe(e))
        with c.cursor("held", withhold=True) as cursor:
            cursor.execute("SELECT n FROM series WHERE n % 1000 = 0 ORDER BY n")
            say("before COMMIT", cursor.fetchmany(2))
            c.commit()
            say("after COMMIT", cursor.fetchmany(2), len(cursor.fetchall()))
        c.commit()
        with c.cursor("two") as a, c.cursor("one") as b:
            a.execute("SELECT n FROM series ORDER BY n")
            b.execute("SELECT id FROM item ORDER BY id DESC")
            say("at once", [(a.fetchone(), b.fetchone()) for _ in range(3)])
        c.execute("SELECT 1")
        for size in (1, 7, 1000):
            rows = 0
            for n, label in c.cursor().stream("SELECT n, label FROM series WHERE n <= 2500 ORDER BY n", size=size):
                rows += n
            say("stream", size, rows)
        with psycopg.ServerCursor(c, "params") as cursor:
            cursor.execute("SELECT n, label FROM series WHERE n BETWEEN %s AND %s ORDER BY n", (10, 14))
            say("parameters", cursor.fetchall())
        raw = c.cursor()
        raw.execute("DECLARE manual SCROLL CURSOR FOR SELECT n FROM series ORDER BY n")
        for fetch in ("FETCH 2 FROM manual", "MOVE 100 IN manual", "FETCH PRIOR FROM manual", "FETCH LAST FROM manual", "FETCH FORWARD 3 FROM manual",
                      "FETCH BACKWARD 2 FROM manual", "MOVE ABSOLUTE 0 IN manual", "FETCH ABSOLUTE -2 FROM manual", "CLOSE manual"):
            raw.execute(fetch)
            say(fetch, raw.statusmessage, raw.fetchall() if raw.description else "")


def check_pipeline(say):
    with connect(autocommit=True) as c:
        with c.pipeline():
            cursors = [c.execute("SELECT id, name FROM item WHERE id = %s", (id,)) for id in range(1, 51)]
            cursors += [c.execute("SELECT %s::int", (n,)) for n in range(5)]
            cursors += [c.execute("SELECT sum(n) FROM series WHERE n <= %s", (n,)) for n in (10, 100)]
        for cursor in cursors:
            say("row", cursor.fetchall(), cursor.statusmessage)
        a = d = None
        try:
            with c.pipeline() as p:
                a = c.execute("SELECT count(*) FROM item")
                p.sync()
                b = c.execute("SELECT 1 / (id - id) FROM item WHERE id = %s", (1,))
                d = c.execute("SELECT count(*) FROM series")
        except psycopg.Error as e:
            say("error", describe(e))
        say("before the error", a.fetchone())
        # Whether the client sends what follows depends on how soon it sees the error.
        say("after the error", d is None or d.pgresult is None or d.pgresult.status != psycopg.pq.ExecStatus.TUPLES_OK)
        say("status", c.info.transaction_status.name)
        with c.pipeline():
            c.cursor().executemany("INSERT INTO sink VALUES (%s, %s, %s, %s, %s, %s)", ROWS)
            count = c.execute("SELECT count(*) FROM sink")
            changed = c.execute("UPDATE sink SET qty = 5 WHERE id <= %s", (3,))
            returned = c.execute("DELETE FROM sink WHERE id > 2 RETURNING id, name")
        say("written", count.fetchone(), changed.rowcount, sorted(returned.fetchall()))
        try:
            with c.pipeline():
                c.execute("INSERT INTO sink (id) VALUES (77)")
                c.execute("INSERT INTO sink (id) VALUES (NULL)")
                c.execute("INSERT INTO sink (id) VALUES (78)")
        except psycopg.Error as e:
            say("one group fails whole", describe(e))
        say("left", c.execute("SELECT id, qty FROM sink ORDER BY id").fetchall())
        c.execute("DELETE FROM sink")
    with connect() as c, c.pipeline() as p, c.transaction():
        a = c.execute("SELECT count(*) FROM item WHERE ok")
        p.sync()
        b = c.execute("SELECT max(id) FROM item WHERE NOT ok")
        say("in a transaction", a.fetchone(), b.fetchone())


def check_copy(say):
    with connect() as c:
        for source in ("item", "(SELECT * FROM item WHERE id < 20 ORDER BY id DESC)", "series (label)", "(SELECT n FROM series WHERE n <= 3)"):
            for format in ("text", "csv", "binary"):
                with c.cursor().copy(f"COPY {source} TO STDOUT (FORMAT {format})") as copy:
                    data = b"".join(copy)
                if source.startswith("(") or format == "text":
                    # A table's rows come in no order.
                    lines = data.split(b"\n") if source.startswith("(") else sorted(data.split(b"\n"))
                    data = b"\n".join(lines)
                    say(source, format, len(data), data[:300])
                else:
                    say(source, format, len(data))
        with c.cursor().copy("COPY (SELECT id, tags, raw, at FROM item WHERE id < 4 ORDER BY id) TO STDOUT") as copy:
            copy.set_types(["int4", "text[]", "bytea", "timestamp"])
            for row in copy.rows():
                say("rows", row)
        with c.cursor().copy("COPY (SELECT id, tags, raw, at FROM item WHERE id < 4 ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text[]", "bytea", "timestamp"])
            for row in copy.rows():
                say("binary rows", row)
        c.commit()
        columns = ", ".join(SINK)
        for format in ("text", "binary"):
            cursor = c.cursor()
            with cursor.copy(f"COPY sink ({columns}) FROM STDIN (FORMAT {format})") as copy:
                copy.set_types(["int4", "text", "numeric", "int2", "timestamp", "bytea"])
                for row in ROWS:
                    copy.write_row(row)
            say("in", format, cursor.rowcount, cursor.statusmessage)
            c.commit()
            say("is", c.execute("SELECT * FROM sink ORDER BY id").fetchall())
            c.execute("DELETE FROM sink")
            c.commit()
        cursor = c.cursor()
        with cursor.copy("COPY sink (id, name) FROM STDIN (FORMAT csv, HEADER, NULL '-')") as copy:
            copy.write("id,name\n1,\"a,\"\"b\"\"\"\n2,-\n")
            copy.write("3,\n")
        say("csv", cursor.rowcount, c.execute("SELECT id, name FROM sink ORDER BY id").fetchall())
        c.rollback()
        try:
            with c.cursor().copy("COPY sink (id, name) FROM STDIN") as copy:
                copy.write("1\tone\nx\ttwo\n")
        except psycopg.Error as e:
            say("bad row", describe(e), e.diag.context)
        c.rollback()
        try:
            with c.cursor().copy("COPY sink (id, name) FROM STDIN") as copy:
                copy.write("1\tone\n")
                raise ValueError("given up")
        except ValueError as e:
            say("given up", describe(e))
        c.rollback()
        say("empty", c.execute("SELECT count(*) FROM sink").fetchone())
        try:
            with c.cursor().copy("COPY (SELECT n FROM series ORDER BY n) TO STDOUT") as copy:
                raise ValueError(next(copy.rows())[0])
        except ValueError as e:
            say("left early", describe(e))
        c.rollback()
        cursor = c.cursor()
        cursor.executemany("INSERT INTO sink (id, name) VALUES (%s, %s)", [(n, f"many {n}") for n in range(20)])
        say("executemany", cursor.rowcount)
        cursor.executemany("SELECT id FROM item WHERE id = %s", [(1,), (2,), (999,)], returning=True)
        results = []
        while True:
            results.append(cursor.fetchall())
            if not cursor.nextset():
                break
        say("returning", results)
        c.rollback()


def check_cancel(say):
    slow = ("SELECT pg_sleep(60)", "SELECT count(*), pg_sleep(60) FROM item",
            "SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1",
            "SELECT sum(a.n * b.n) FROM series a JOIN series b ON a.n <> b.n JOIN series c ON c.n > b.n AND c.label <> a.label")
    with connect(autocommit=True) as c:
        for query in slow:
            for cancel in (c.cancel, lambda: c.cancel_safe(timeout=20)):
                timer = threading.Timer(0.2, cancel)
                timer.start()
                try:
                    c.execute(query)
                    say("not cancelled")
                except psycopg.errors.QueryCanceled as e:
                    say(query, describe(e))
                timer.join()
                say("then", c.execute("SELECT count(*) FROM item").fetchone())
        c.execute("SET statement_timeout = '300ms'")
        for query in slow:
            try:
                c.execute(query)
                say("no timeout")
            except psycopg.errors.QueryCanceled as e:
                say("timeout", describe(e))
        c.execute("RESET statement_timeout")
        say("after", c.execute("SELECT max(n) FROM series").fetchone())

    async def later():
        async with await psycopg.AsyncConnection.connect(URL, autocommit=True) as c:
            task = asyncio.create_task(c.execute(f'SELECT count(*) FROM "{SCHEMA}".series a, "{SCHEMA}".series b, "{SCHEMA}".series c WHERE a.n + b.n + c.n = -1'))
            await asyncio.sleep(0.3)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            cursor = await c.execute("SELECT 1")
            return await cursor.fetchone()
    say("async task", asyncio.run(later()))


def check_rollback(say):
    with connect() as c, connect(autocommit=True) as other:
        seen = lambda: other.execute("SELECT count(*) FROM sink").fetchone()
        c.execute("INSERT INTO sink (id, name) VALUES (1, 'a'), (2, 'b')")
        say("inside", c.execute("SELECT id, name FROM sink ORDER BY id").fetchall(), "outside", seen(), c.info.transaction_status.name)
        c.rollback()
        say("rolled back", c.execute("SELECT count(*) FROM sink").fetchone(), seen())
        c.rollback()
        with c.transaction():
            c.execute("INSERT INTO sink (id, price) VALUES (3, 1.25) RETURNING *")
        say("committed", seen())
        try:
            with c.transaction():
                c.execute("UPDATE sink SET price = price * 2 RETURNING price")
                say("changed", c.execute("SELECT price FROM sink").fetchall())
                raise psycopg.Rollback()
        finally:
            say("unchanged", other.execute("SELECT price FROM sink").fetchall())
        with c.transaction():
            c.execute("SELECT count(*) FROM item").fetchone()
            try:
                with c.transaction("point"):
                    c.execute("SELECT 1 / (id - id) FROM item")
            except psycopg.Error as e:
                say("savepoint", describe(e))
            say("goes on", c.execute("SELECT count(*) FROM item").fetchone())
        try:
            with c.transaction():
                c.execute("DELETE FROM sink")
                c.execute("SELECT nothing FROM sink")
        except psycopg.Error as e:
            say("failed", describe(e), c.info.transaction_status.name)
        say("still there", seen())
        try:
            with c.transaction():
                c.execute("UPDATE sink SET name = 'changed'")
                with c.transaction("point"):
                    c.execute("DELETE FROM sink")
                    raise psycopg.Rollback()
            say("nested-write", seen())
        except psycopg.Error as e:
            say("nested-write", describe(e))
        c.rollback()
        c.read_only = True
        try:
            c.execute("INSERT INTO sink (id) VALUES (9)")
        except psycopg.Error as e:
            say("read only", describe(e))
        c.rollback()
        c.read_only = None
        c.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        say("isolation", c.execute("SHOW transaction_isolation").fetchone(), c.execute("SELECT count(*) FROM sink").fetchone())
        c.rollback()
        other.execute("DELETE FROM sink")
        say("deleted", seen())


def check_errors(say):
    statements = (
        "SELEC 1", "SELECT * FROM nothing", "SELECT nothing FROM item", "SELECT 1/0 FROM item", "SELECT id / (id - 5) FROM item", "SELECT name::int FROM item WHERE id = 5",
        "SELECT nothing(id) FROM item", "SELECT id FROM item GROUP BY name", "INSERT INTO sink (id) VALUES (NULL)", "INSERT INTO sink (id, nothing) VALUES (1, 2)",
        "INSERT INTO sink (id, qty) VALUES (1, 70000)", "INSERT INTO sink (id, price) VALUES (1, 1e12)", "SELECT big * big FROM item WHERE id = 2", "SELECT (qty * 100)::smallint FROM item WHERE id = 2",
        "SELECT id FROM item WHERE id = 'x'", "SELECT * FROM item, LATERAL (SELECT", "SELECT id FROM item a JOIN item b USING (id) WHERE a.nothing = 1",
        "SELECT (SELECT id FROM item)", "SELECT sqrt(-id) FROM item WHERE id = 4", "SELECT date '2024-02-30' FROM item", "UPDATE sink SET id = NULL", "SELECT chr(0) FROM item",
        "SELECT id, count(*) FROM item", "SELECT interval '1 fortnight x' FROM item", "SELECT repeat(name, 2000000000) FROM item WHERE id = 5", "LOCK TABLE nothing",
    )
    with connect() as c:
        for statement in statements:
            try:
                c.execute(statement)
                say(statement, "no error")
            except psycopg.Error as e:
                d = e.diag
                say(statement, describe(e), d.severity, d.statement_position, d.message_hint, d.message_detail, d.column_name, d.table_name, c.info.transaction_status.name)
            try:
                c.execute("SELECT 1")
                say("then", c.info.transaction_status.name)
            except psycopg.Error as e:
                say("then", type(e).__name__)
            c.rollback()
        notices = []
        c.add_notice_handler(lambda d: notices.append((d.severity, d.sqlstate, d.message_primary)))
        c.execute("DROP TABLE IF EXISTS no_table_of_this_name")
        c.execute("DO $$ BEGIN RAISE WARNING 'seen %', 5; END $$")
        say("notices", notices)


run(globals())
