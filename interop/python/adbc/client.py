"""ADBC's PostgreSQL driver: every result by binary COPY, as Arrow; ingest by binary COPY; metadata as Arrow."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import pyarrow as pa
from adbc_driver_manager import Error
from adbc_driver_postgresql import StatementOptions, dbapi

from check import ITEM, SCHEMA, SCRATCH, URL, describe, neutral, run


def connect(autocommit=False):
    c = dbapi.connect(URL, autocommit=autocommit)
    with c.cursor() as cursor:
        cursor.execute(f'SET search_path TO "{SCHEMA}"')
    if not autocommit:
        c.commit()
    return c


def query(c, statement, args=None):
    with c.cursor() as cursor:
        cursor.execute(statement, args)
        return cursor.fetchall()


def fields(schema):
    return [(f.name, str(f.type), {k.decode(): v.decode() for k, v in (f.metadata or {}).items()}) for f in schema]


def check_connect(say):
    with connect() as c:
        info = c.adbc_get_info()
        say({k: v for k, v in info.items() if k != "driver_arrow_version"})
        say(query(c, "SELECT current_user, 1"))
    try:
        dbapi.connect(URL.replace("interop%20password", "wrong"))
    except Error as e:
        say("wrong password", type(e).__name__, "password authentication failed" in str(e))


def check_introspect(say):
    with connect() as c:
        for table in ("item", "series", "sink"):
            for f in fields(c.adbc_get_table_schema(table, db_schema_filter=SCHEMA)):
                say(table, f)
        found = c.adbc_get_objects(depth="all", db_schema_filter=SCHEMA).read_all().to_pylist()
        for catalog in found:
            for schema in catalog["catalog_db_schemas"] or ():
                for table in sorted(schema["db_schema_tables"], key=lambda t: t["table_name"]):
                    say(table["table_name"], table["table_type"], [(k["constraint_name"], k["constraint_type"], k["constraint_column_names"]) for k in table["table_constraints"]])
                    for column in table["table_columns"]:
                        say(table["table_name"], column["column_name"], column["ordinal_position"], column["xdbc_type_name"], column["xdbc_is_nullable"])
        say(c.adbc_get_table_types())


def check_types(say):
    with connect() as c, c.cursor() as cursor:
        for column in ITEM:
            cursor.execute(f"SELECT id, {column} FROM item ORDER BY id")
            table = cursor.fetch_arrow_table()
            say(column, fields(table.schema))
            for i, value in zip(table.column(0), table.column(1)):
                try:
                    say(column, i.as_py(), value.as_py())
                except (ValueError, OverflowError) as e:
                    say(column, i.as_py(), str(value.cast(pa.int64())) if pa.types.is_timestamp(value.type) else type(e).__name__)
        for column, value in (("id", 5), ("name", "item 5"), ("big", 50000000095), ("ratio", 4.0), ("ok", True), ("name", "Zoë 日本語 🙂")):
            say("parameter", column, query(c, f"SELECT id FROM item WHERE {column} = $1 ORDER BY id LIMIT 3", (value,)))
        for column in ("day", "at", "atz", "raw", "t"):
            (value,) = query(c, f"SELECT {column} FROM item WHERE id = 8")[0]
            try:
                say("parameter", column, value, query(c, f"SELECT id FROM item WHERE {column} = $1 ORDER BY id LIMIT 3", (value,)))
            except Error as e:
                say("parameter", column, value, describe(e))
        say("description", fields(cursor.adbc_execute_schema("SELECT id, price * 2 AS p, count(*) OVER () AS c, tags FROM item")))


def check_prepared(say):
    with connect() as c, c.cursor() as cursor:
        schema = cursor.adbc_prepare("SELECT id, name, price FROM item WHERE id = $1")
        say(fields(schema) if schema else None)
        for id in (1, 5, 200, 201):
            cursor.execute("SELECT id, name, price FROM item WHERE id = $1", (id,))
            say(cursor.fetchall())
        c.commit()
        for divisor in (2, 0, 5):
            try:
                say(query(c, "SELECT sum(id / $1::int) FROM item WHERE id < 10", (divisor,)))
            except Error as e:
                say(type(e).__name__, e.sqlstate)
                c.rollback()


def check_cursor(say):
    with connect() as c:
        for hint in ("16777216", "4096"):
            with c.cursor(adbc_stmt_kwargs={StatementOptions.BATCH_SIZE_HINT_BYTES.value: hint}) as cursor:
                cursor.execute("SELECT n, label FROM series ORDER BY n")
                reader = cursor.fetch_record_batch()
                sizes = [b.num_rows for b in reader]
                say(hint, len(sizes), sum(sizes), sizes[:3])
        with c.cursor(adbc_stmt_kwargs={StatementOptions.BATCH_SIZE_HINT_BYTES.value: "4096"}) as cursor:
            cursor.execute("SELECT n, label FROM series ORDER BY n")
            say("early", cursor.fetchmany(3))
        say("after", query(c, "SELECT count(*) FROM series"))
        with c.cursor(adbc_stmt_kwargs={StatementOptions.USE_COPY.value: False}) as cursor:
            cursor.execute("SELECT id, tags, raw, at FROM item WHERE id BETWEEN 3 AND 8 ORDER BY id")
            say("without COPY", cursor.fetchall())


def check_pipeline(say):
    with connect() as c, c.cursor() as cursor:
        cursor.executemany("INSERT INTO sink (id, name) VALUES ($1, $2)", [(n, f"row {n}") for n in range(20)])
        say(cursor.rowcount, query(c, "SELECT count(*), max(name) FROM sink"))
        # A query with several rows of parameters runs once for each.
        cursor.execute("SELECT 1")
        cursor.fetchall()
        c.rollback()
        say(query(c, "SELECT count(*) FROM sink"))


def check_copy(say):
    table = pa.table({
        "id": pa.array([1, 2, 3], pa.int32()), "name": ["one", "zwei ü 🙂", None], "qty": pa.array([1, None, -32768], pa.int16()),
        "at": pa.array([0, 1709164800123456, None], pa.timestamp("us")), "raw": pa.array([b"\x00\xff", b"", None], pa.binary()),
    })
    with connect() as c, c.cursor() as cursor:
        say("ingested", cursor.adbc_ingest("sink", table, mode="append", db_schema_name=SCHEMA))
        c.commit()
        say(query(c, "SELECT * FROM sink ORDER BY id"))
        many = pa.table({"id": pa.array(range(20000), pa.int32()), "name": [f"n{n}" for n in range(20000)]})
        say("many", cursor.adbc_ingest("sink", many, mode="append", db_schema_name=SCHEMA), query(c, "SELECT count(*), sum(id), max(name) FROM sink"))
        c.rollback()
        try:
            say(cursor.adbc_ingest("sink", pa.table({"id": pa.array([1, None], pa.int32())}), mode="append", db_schema_name=SCHEMA))
        except Error as e:
            say(type(e).__name__, e.sqlstate)
        c.rollback()
        cursor.execute("SELECT id, name, qty, tags FROM item WHERE id < 30 ORDER BY id")
        rows = cursor.fetch_arrow_table()
        say("created", cursor.adbc_ingest("copied", rows, mode="create", db_schema_name=SCRATCH), query(c, f"SELECT * FROM {SCRATCH}.copied ORDER BY id"))
        c.rollback()
        say(query(c, "SELECT count(*) FROM sink"))
    with connect() as c:
        query(c, "DELETE FROM sink RETURNING id")
        c.commit()


def check_cancel(say):
    with connect() as c:
        for statement in ("SELECT pg_sleep(60)::text", "SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1"):
            with c.cursor() as cursor:
                timer = threading.Timer(0.3, cursor.adbc_cancel)
                timer.start()
                try:
                    cursor.execute(statement)
                    say(cursor.fetchall())
                except Error as e:
                    say(statement, type(e).__name__, e.sqlstate)
                timer.join()
            c.rollback()
            say("then", query(c, "SELECT count(*) FROM item"))
        query(c, "SELECT set_config('statement_timeout', '200', true)")
        try:
            query(c, statement)
        except Error as e:
            say("timeout", type(e).__name__, e.sqlstate)
        c.rollback()


def check_rollback(say):
    with connect() as c, connect(autocommit=True) as other:
        count = lambda: query(other, "SELECT count(*) FROM sink")
        with c.cursor() as cursor:
            cursor.execute("INSERT INTO sink (id, name) VALUES (1, 'x')")
            say("inside", query(c, "SELECT id, name FROM sink"), count())
            c.rollback()
            say("rolled back", query(c, "SELECT count(*) FROM sink"), count())
            cursor.execute("INSERT INTO sink (id, name) VALUES ($1, $2)", (2, "y"))
            c.commit()
            say("committed", count())
            cursor.execute("DELETE FROM sink")
            say(cursor.rowcount)
            c.commit()
            say(count())


def check_errors(say):
    with connect() as c:
        for statement, args in (
            ("SELEC 1", None), ("SELECT * FROM nothing", None), ("SELECT nothing FROM item", None), ("SELECT 1 / (id - 5) FROM item", None), ("INSERT INTO sink (id) VALUES ($1)", (None,)),
            ("SELECT name::date FROM item WHERE id = 5", None), ("SELECT big + 1 FROM item WHERE id = 2", None), ("SELECT id, count(*) FROM item", None),
        ):
            try:
                say(statement, query(c, statement, args))
            except Error as e:
                say(statement, type(e).__name__, e.sqlstate, [(d[0], d[1].decode()) for d in e.details if d[0] in ("PG_DIAG_MESSAGE_PRIMARY", "PG_DIAG_SEVERITY", "PG_DIAG_STATEMENT_POSITION", "PG_DIAG_COLUMN_NAME")])
            c.rollback()


run(globals())
