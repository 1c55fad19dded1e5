"""psycopg2: simple queries, named cursors, execute_values, copy_expert, cancel."""

import contextlib
import io
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import psycopg2
import psycopg2.extensions
from psycopg2 import extras, sql

from check import ITEM, ROWS, SCHEMA, SINK, URL, describe, run

extras.register_uuid()


def connect(autocommit=False, **options):
    connection = psycopg2.connect(URL, options=f"-c search_path={SCHEMA}", **options)
    connection.autocommit = autocommit
    return connection


def query(c, statement, args=None):
    with c.cursor() as cursor:
        cursor.execute(statement, args)
        return cursor.fetchall()


def check_connect(say):
    c = connect(application_name="interop psycopg2")
    say(c.server_version, c.protocol_version, c.encoding, c.status, c.info.user, c.get_transaction_status())
    for name in ("server_version", "client_encoding", "DateStyle", "TimeZone", "is_superuser", "application_name", "standard_conforming_strings"):
        say(name, c.get_parameter_status(name))
    say(query(c, "SHOW search_path") == [(SCHEMA,)], query(c, "SELECT current_user"))
    c.set_client_encoding("LATIN1")
    say("LATIN1", c.encoding, query(c, "SELECT name FROM item WHERE id = 4"), query(c, "SELECT 'ä'"))
    try:
        query(c, "SELECT name FROM item WHERE id = 2")
    except psycopg2.Error as e:
        say("not in LATIN1", describe(e))
    c.rollback()
    c.set_client_encoding("UTF8")
    c.set_session(isolation_level="SERIALIZABLE", deferrable=True, readonly=True)
    say("session", query(c, "SHOW transaction_isolation"), query(c, "SHOW transaction_read_only"))
    c.close()
    say("closed", c.closed)


def check_introspect(say):
    with connect() as c:
        for row in query(c, "SELECT * FROM information_schema.columns WHERE table_schema = %s ORDER BY table_name, ordinal_position", (SCHEMA,)):
            say("column", row[2:20], row[26:])
        for row in query(c, "SELECT table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema = %s ORDER BY 1", (SCHEMA,)):
            say("table", row)
        for row in query(c, "SELECT table_name, privilege_type FROM information_schema.table_privileges WHERE table_schema = %s ORDER BY 1, 2", (SCHEMA,)):
            say("privilege", row)
        for row in query(c, "SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = %s::regnamespace ORDER BY 1", (SCHEMA,)):
            say("constraint", row)


def check_types(say):
    with connect() as c:
        for column in ITEM:
            name = sql.Identifier(column)
            for row in query(c, sql.SQL("SELECT id, {} FROM item ORDER BY id").format(sql.SQL("atz::text") if column == "atz" else name)):
                say(column, row)
            if column in ("id", "doc", "r4"):
                continue
            for (value,) in query(c, sql.SQL("SELECT DISTINCT {0} FROM item WHERE id BETWEEN 5 AND 9 AND {0} IS NOT NULL ORDER BY 1").format(name)):
                if isinstance(value, list):
                    found = query(c, "SELECT id FROM item WHERE tags = %s::text[] ORDER BY id LIMIT 3", (value,))
                else:
                    found = query(c, sql.SQL("SELECT id FROM item WHERE {} = %s ORDER BY id LIMIT 3").format(name), (value,))
                say("parameter", column, value, found)
        with c.cursor() as cursor:
            cursor.execute("SELECT * FROM item LIMIT 0")
            for d in cursor.description:
                say("description", d.name, d.type_code, d.display_size, d.internal_size, d.precision, d.scale, d.null_ok,
                    (d.table_column, d.table_oid is not None))
        say("in", query(c, "SELECT id FROM item WHERE id IN %s ORDER BY id", ((3, 5, 7),)))
        say("json", query(c, "SELECT %s::jsonb, doc @> %s FROM item WHERE id = 5", (extras.Json({"a": [1]}), extras.Json({"id": 5}))))
        with c.cursor(cursor_factory=extras.RealDictCursor) as cursor:
            cursor.execute("SELECT * FROM item WHERE id = 8")
            say("dict", dict(cursor.fetchone()))
        with c.cursor(cursor_factory=extras.NamedTupleCursor) as cursor:
            cursor.execute("SELECT id, name AS n FROM item WHERE id = 8")
            say("tuple", repr(cursor.fetchone()))


def check_prepared(say):
    with connect() as c:
        query_text = "PREPARE p (int, text) AS SELECT id, name, price FROM item WHERE id = $1 OR name = $2 ORDER BY id"
        with c.cursor() as cursor:
            cursor.execute(query_text)
            say(cursor.statusmessage)
            for args in ((1, "item 5"), (200, ""), (201, None)):
                cursor.execute("EXECUTE p (%s, %s)", args)
                say(args, cursor.fetchall(), cursor.statusmessage)
            cursor.execute("SELECT name, statement, parameter_types::text[], from_sql FROM pg_prepared_statements WHERE name = 'p'")
            say(cursor.fetchall())
            cursor.execute("DEALLOCATE p")
            try:
                cursor.execute("EXECUTE p (1, 'x')")
            except psycopg2.Error as e:
                say("gone", describe(e))


def check_cursor(say):
    with connect() as c:
        for itersize in (1, 999, 5000):
            with c.cursor("pieces") as cursor:
                cursor.itersize = itersize
                cursor.execute("SELECT n, label FROM series WHERE n <= %s ORDER BY n", (2500 if itersize == 1 else 50000,))
                total = sum(n for n, _ in cursor)
                say(itersize, total)
        with c.cursor("early") as cursor:
            cursor.execute("SELECT n, label FROM series ORDER BY n")
            say("early", cursor.fetchmany(3), cursor.fetchone(), [d.name for d in cursor.description])
        with c.cursor("scroll", scrollable=True) as cursor:
            cursor.execute("SELECT n FROM series WHERE n <= 50 ORDER BY n DESC")
            cursor.scroll(10)
            say("scroll", cursor.fetchone())
            cursor.scroll(-3)
            say("back", cursor.fetchone())
            cursor.scroll(0, "absolute")
            say("start", cursor.fetchmany(2), cursor.rownumber)
        with c.cursor("held", withhold=True) as cursor:
            cursor.execute("SELECT id, tags FROM item ORDER BY id")
            say("held", cursor.fetchmany(1))
            c.commit()
            say("held", cursor.fetchmany(2), len(cursor.fetchall()))
        with c.cursor("a") as a, c.cursor("b") as b:
            a.execute("SELECT n FROM series ORDER BY n")
            b.execute("SELECT id FROM item ORDER BY id")
            say("two", [(a.fetchone(), b.fetchone()) for _ in range(4)])


def check_pipeline(say):
    with connect() as c:
        with c.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM item; SELECT 'home'; SELECT max(n) FROM series")
            say("several", cursor.fetchall(), cursor.statusmessage)
            cursor.execute("INSERT INTO sink (id) VALUES (1); UPDATE sink SET qty = 3; SELECT id, qty FROM sink")
            say("written", cursor.fetchall())
            c.rollback()
    with contextlib.closing(connect(autocommit=True)) as c:
        with c.cursor() as cursor:
            try:
                cursor.execute("INSERT INTO sink (id) VALUES (1); SELECT 1 / (id - 1) FROM item; INSERT INTO sink (id) VALUES (2)")
            except psycopg2.Error as e:
                say("fails whole", describe(e))
            say("left", query(c, "SELECT * FROM sink"))
            extras.execute_batch(cursor, "INSERT INTO sink (id, name, price, qty, at, raw) VALUES (%s, %s, %s, %s, %s, %s)", ROWS, page_size=3)
            say("batch", query(c, "SELECT * FROM sink ORDER BY id"))
            cursor.execute("DELETE FROM sink")
            say("deleted", cursor.rowcount)


def check_copy(say):
    columns = ", ".join(SINK)
    with connect() as c, c.cursor() as cursor:
        for options in ("", "(FORMAT csv, HEADER)", "(FORMAT binary)", "(FORMAT csv, FORCE_QUOTE *, DELIMITER ';', NULL 'nil')"):
            out = io.BytesIO()
            cursor.copy_expert(f"COPY (SELECT * FROM item ORDER BY id) TO STDOUT {options}", out)
            say("query", options, cursor.rowcount, out.getvalue()[:2000])
            out = io.BytesIO()
            cursor.copy_expert(f"COPY item TO STDOUT {options}", out)
            say("table", options, cursor.rowcount, len(out.getvalue()))
        out = io.StringIO()
        cursor.copy_to(out, "series", columns=("n",))
        say("copy_to", len(out.getvalue()), cursor.rowcount)
        out.seek(0)
        cursor.copy_from(out, "sink", columns=("id",), size=1000)
        say("copy_from", cursor.rowcount, query(c, "SELECT count(*), sum(id) FROM sink"))
        c.rollback()
        cursor.copy_expert(f"COPY sink ({columns}) FROM STDIN (FORMAT csv)", io.StringIO('1,"a,b",1.5,2,2024-01-01,\\x00ff\n2,,,,,\n'))
        say("csv", cursor.statusmessage, query(c, "SELECT * FROM sink ORDER BY id"))
        c.rollback()
        try:
            cursor.copy_expert("COPY sink (id, name) FROM STDIN", io.StringIO("1\ta\n2\n"))
        except psycopg2.Error as e:
            say("bad", describe(e), e.diag.context)
        c.rollback()
        extras.execute_values(cursor, f"INSERT INTO sink ({columns}) VALUES %s", ROWS)
        say("values", cursor.rowcount, cursor.statusmessage)
        back = extras.execute_values(cursor, "INSERT INTO sink (id, name) VALUES %s RETURNING id, name", [(n, f"v{n}") for n in range(250)], fetch=True, page_size=100)
        say("returning", len(back), sorted(back)[-1])
        cursor.executemany("UPDATE sink SET qty = %s WHERE id = %s", [(5, 1), (6, 2)])
        say("executemany", cursor.rowcount, query(c, "SELECT qty, count(*) FROM sink GROUP BY qty ORDER BY qty"))
        c.rollback()


def check_cancel(say):
    with contextlib.closing(connect(autocommit=True)) as c:
        for statement in ("SELECT pg_sleep(60)", "SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1", "SELECT id, pg_sleep(1) FROM item"):
            timer = threading.Timer(0.2, c.cancel)
            timer.start()
            try:
                say("not cancelled", len(query(c, statement)))
            except psycopg2.Error as e:
                say(statement, describe(e))
            timer.join()
            say("then", query(c, "SELECT count(*) FROM item"), c.get_transaction_status())
    with connect() as c:
        with c.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '200ms'")
            try:
                cursor.execute("SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1")
            except psycopg2.Error as e:
                say("timeout", describe(e), c.get_transaction_status())
        c.rollback()
        say("after", query(c, "SELECT count(*) FROM series"))


def check_rollback(say):
    c, other = connect(), connect(autocommit=True)
    try:
        with c:
            with c.cursor() as cursor:
                cursor.execute("INSERT INTO sink (id, name) VALUES (1, 'x') RETURNING id")
                say("inside", cursor.fetchall(), query(other, "SELECT count(*) FROM sink"), c.get_transaction_status())
                cursor.execute("SELECT 1 / (id - id) FROM item")
    except psycopg2.Error as e:
        say("rolled back", describe(e), query(other, "SELECT count(*) FROM sink"))
    with c, c.cursor() as cursor:
        cursor.execute("INSERT INTO sink (id, name) VALUES (2, 'y')")
    say("committed", query(other, "SELECT id, name FROM sink"))
    with c.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM item")
        cursor.execute("SAVEPOINT s")
        try:
            cursor.execute("SELECT nothing FROM item")
        except psycopg2.Error as e:
            say("savepoint", describe(e), c.get_transaction_status())
        try:
            cursor.execute("SELECT 1")
        except psycopg2.Error as e:
            say("aborted", describe(e))
        cursor.execute("ROLLBACK TO s")
        cursor.execute("SELECT count(*) FROM item")
        say("goes on", cursor.fetchall(), c.get_transaction_status())
    c.rollback()
    query(other, "DELETE FROM sink RETURNING id")
    c.close()
    other.close()


def check_errors(say):
    with connect() as c:
        for statement, args in (
            ("SELEC 1", None), ("SELECT * FROM nothing", None), ("SELECT nothing FROM item", None), ("SELECT 1 / (id - %s) FROM item", (7,)),
            ("INSERT INTO sink (id) VALUES (%s)", (None,)), ("INSERT INTO sink (id, qty) VALUES (1, %s)", (70000,)), ("SELECT name::date FROM item WHERE id = %s", (5,)),
            ("SELECT id FROM item WHERE day = %s", ("no date",)), ("SELECT name FROM item GROUP BY id + 1", None), ("SELECT big + 1 FROM item WHERE id = 2", None),
            ("UPDATE item SET nothing = 1", None), ("DELETE FROM nothing", None), ("SELECT doc -> 'a' ->> 'b' FROM item WHERE id = 'x'", None), ("", None),
        ):
            try:
                say(statement, query(c, statement, args))
            except psycopg2.Error as e:
                say(statement, describe(e), e.diag.severity, e.diag.message_detail, e.diag.message_hint, e.diag.statement_position, e.diag.column_name,
                    psycopg2.errors.lookup(e.pgcode).__name__ if e.pgcode else "-")
            c.rollback()
        with c.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS no_table_of_this_name")
        say("notices", c.notices)


run(globals())
