"""asyncpg: binary results, its own catalogue queries for types, cursors in transactions, COPY by records and queries."""

import asyncio
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import asyncpg

from check import ITEM, ROWS, SCHEMA, SCRATCH, SINK, URL, describe, run


async def connect(**options):
    return await asyncpg.connect(URL, server_settings={"search_path": SCHEMA, "application_name": "interop asyncpg"}, **options)


def check(function):
    """Makes a check of a coroutine that takes a connection."""
    def checked(say):
        async def whole():
            c = await connect()
            try:
                await function(say, c)
            finally:
                await c.close(timeout=20)
        asyncio.run(whole())
    return checked


def rows(records):
    return [tuple(r) for r in records]


@check
async def check_connect(say, c):
    say(str(c.get_server_version()), c.is_closed(), c.is_in_transaction())
    settings = c.get_settings()
    say(settings.server_encoding, settings.client_encoding, settings.TimeZone, settings.application_name, settings.DateStyle)
    say(await c.fetchval("SELECT current_setting('search_path')") == SCHEMA)
    try:
        await asyncpg.connect(URL, password="wrong")
    except asyncpg.PostgresError as e:
        say("wrong password", describe(e))
    async with asyncpg.create_pool(URL, min_size=2, max_size=4, server_settings={"search_path": SCHEMA}) as pool:
        counts = await asyncio.gather(*(pool.fetchval("SELECT count(*) FROM item WHERE id > $1", n) for n in range(10)))
        say("pool", counts)
        async with pool.acquire() as one:
            await one.execute("SET TIME ZONE 'Asia/Tokyo'; CREATE TEMPORARY TABLE gone (x int)")
        say("reset", await pool.fetchval("SHOW TimeZone"))


@check
async def check_introspect(say, c):
    for table in ("item", "series", "sink"):
        for r in await c.fetch("""SELECT a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef, t.typname, t.typcategory, t.typlen
                FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::regclass AND attnum > 0 ORDER BY attnum""", table):
            say(table, tuple(r))
    # A type that asyncpg knows nothing of makes it ask the catalogue.
    await c.execute(f"CREATE TYPE {SCRATCH}.mood AS ENUM ('sad', 'happy'); CREATE TYPE {SCRATCH}.pair AS (a int, b text[], m {SCRATCH}.mood); CREATE DOMAIN {SCRATCH}.positive AS int CHECK (VALUE > 0)")
    say(await c.fetchval(f"SELECT ROW(1, ARRAY['x'], 'happy')::{SCRATCH}.pair"), await c.fetchval(f"SELECT ARRAY['sad']::{SCRATCH}.mood[]"))
    say(await c.fetchval(f"SELECT ($1::{SCRATCH}.pair).a", (5, ["y"], "sad")), await c.fetchval(f"SELECT $1::{SCRATCH}.positive", 3))
    s = await c.prepare(f"SELECT $1::{SCRATCH}.mood, $2::{SCRATCH}.pair[]")
    say([t.name for t in s.get_parameters()], [(a.name, a.type.name, a.type.kind) for a in s.get_attributes()])


@check
async def check_types(say, c):
    for column in ITEM:
        for r in await c.fetch(f'SELECT id, "{column}" FROM item ORDER BY id'):
            say(column, tuple(r))
        if column in ("doc", "r4"):
            continue
        for (value,) in rows(await c.fetch(f'SELECT DISTINCT "{column}" FROM item WHERE id BETWEEN 1 AND 12 AND "{column}" IS NOT NULL ORDER BY 1')):
            say("parameter", column, value, rows(await c.fetch(f'SELECT id FROM item WHERE "{column}" = $1 ORDER BY id LIMIT 3', value)))
    say("any", rows(await c.fetch("SELECT id FROM item WHERE id = ANY($1) ORDER BY id", [5, 3, 999])))
    s = await c.prepare("SELECT *, price * $1 AS p, sum(big) OVER () AS s, tags[$2] AS tag FROM item WHERE id < $3 AND at > $4")
    say("parameters", [(t.name, t.kind, t.schema) for t in s.get_parameters()])
    for a in s.get_attributes():
        say("attribute", a.name, a.type.name, a.type.kind, a.type.schema)
    await c.set_type_codec("jsonb", encoder=lambda v: v, decoder=lambda v: "json " + v, schema="pg_catalog")
    say("codec", await c.fetchval("SELECT doc FROM item WHERE id = 5"))
    say("row", tuple(await c.fetchval("SELECT (i.id, i.name, i.tags) FROM item i WHERE id = 5")))
    try:
        await c.fetch("SELECT i FROM item i WHERE id = 5")
    except asyncpg.UnsupportedClientFeatureError as e:
        say("whole row", describe(e))


@check
async def check_prepared(say, c):
    s = await c.prepare("SELECT id, name, price FROM item WHERE id = $1")
    for id in (1, 5, 200, 201):
        say(rows(await s.fetch(id)), s.get_statusmsg())
    say(s.get_query())
    division = await c.prepare("SELECT sum(id / $1) FROM item WHERE id < 10")
    for divisor in (2, 0, 5):
        try:
            say("division", await division.fetchval(divisor))
        except asyncpg.PostgresError as e:
            say("division", describe(e))
    try:
        await s.fetch("text")
    except Exception as e:
        say("wrong type", type(e).__name__)
    for n in range(120):  # more than the cache of statements holds
        last = await c.fetchval(f"SELECT id + {n} FROM item WHERE id = $1", 3)
    say("many", last)
    # The cached statement is no longer right: asyncpg prepares it anew.
    await c.execute(f"CREATE TABLE {SCRATCH}.changing (a int); INSERT INTO {SCRATCH}.changing VALUES (1)")
    say(rows(await c.fetch(f"SELECT * FROM {SCRATCH}.changing")))
    await c.execute(f"ALTER TABLE {SCRATCH}.changing ALTER a TYPE text, ADD b int DEFAULT 2")
    say("changed", rows(await c.fetch(f"SELECT * FROM {SCRATCH}.changing")))
    s = await c.prepare("SELECT max(n) FROM series WHERE n < $1")
    say("explain", type(await s.explain(100)).__name__)


@check
async def check_cursor(say, c):
    async with c.transaction():
        for prefetch in (1, 50, 999):
            total = count = 0
            async for r in c.cursor("SELECT n, label FROM series WHERE n <= $1 ORDER BY n", 2500 if prefetch == 1 else 50000, prefetch=prefetch):
                total, count = total + r["n"], count + 1
            say(prefetch, count, total)
        async for r in c.cursor("SELECT n FROM series ORDER BY n"):
            if r["n"] == 77:
                break
        say("left at", r["n"])
        a = await c.cursor("SELECT n FROM series ORDER BY n")
        b = await c.cursor("SELECT id, name FROM item ORDER BY id")
        say(await a.forward(1000), rows(await a.fetch(2)), rows(await b.fetch(2)), tuple(await a.fetchrow()), rows(await b.fetch(1)))
        say(await a.forward(100000), await a.fetchrow(), len(await b.fetch(1000)), rows(await b.fetch(5)))
        s = await c.prepare("SELECT n FROM series WHERE n > $1 ORDER BY n")
        async for r in s.cursor(49998):
            say("prepared", tuple(r))
    try:
        await c.cursor("SELECT 1")
    except asyncpg.PostgresError as e:
        say("outside", describe(e))


@check
async def check_pipeline(say, c):
    # asyncpg sends the whole of executemany in one go.
    await c.executemany(f"INSERT INTO sink ({', '.join(SINK)}) VALUES ($1, $2, $3, $4, $5, $6)", ROWS)
    say(rows(await c.fetch("SELECT * FROM sink ORDER BY id")))
    try:
        await c.executemany("INSERT INTO sink (id, qty) VALUES ($1, 10 / $2::int)", [(10, 1), (11, 0), (12, 1)])
    except asyncpg.PostgresError as e:
        say("fails whole", describe(e))
    say(await c.fetchval("SELECT count(*) FROM sink"))
    say(rows(await c.fetchmany("UPDATE sink SET qty = $2 WHERE id = $1 RETURNING id, qty", [(1, 5), (2, 6), (99, 7)])))
    say(await c.execute("DELETE FROM sink WHERE id = 1; SELECT count(*) FROM item; DELETE FROM sink"), await c.fetchval("SELECT count(*) FROM sink"))
    try:
        await c.execute("INSERT INTO sink (id) VALUES (1); SELECT 1/0 FROM item; INSERT INTO sink (id) VALUES (2)")
    except asyncpg.PostgresError as e:
        say("script", describe(e), await c.fetchval("SELECT count(*) FROM sink"))


@check
async def check_copy(say, c):
    for format in ("text", "csv", "binary"):
        out = io.BytesIO()
        done = await c.copy_from_query("SELECT * FROM item WHERE id < $1 ORDER BY id", 40, output=out, format=format)
        say("query", format, done, out.getvalue()[:3000])
        out = io.BytesIO()
        done = await c.copy_from_table("series", columns=["n"], output=out, format=format)
        say("table", format, done, len(out.getvalue()))
    say(await c.copy_records_to_table("sink", records=ROWS, columns=SINK))
    say(rows(await c.fetch("SELECT * FROM sink ORDER BY id")))
    await c.execute("DELETE FROM sink")
    say(await c.copy_to_table("sink", source=io.BytesIO(b"1,a\n2,\"b,c\"\n3,\n"), columns=["id", "name"], format="csv"))
    say(await c.copy_records_to_table("sink", records=((n, f"r{n}") for n in range(10000)), columns=["id", "name"]))
    say(tuple(await c.fetchrow("SELECT count(*), sum(id), max(name) FROM sink")))
    await c.execute("DELETE FROM sink")
    try:
        await c.copy_to_table("sink", source=io.BytesIO(b"1,a\nx,b\n"), columns=["id", "name"], format="csv")
    except asyncpg.PostgresError as e:
        say("bad", describe(e), e.context)
    try:
        await c.copy_records_to_table("sink", records=[(1, "a"), (None, "b")], columns=["id", "name"])
    except asyncpg.PostgresError as e:
        say("null", describe(e))
    say(await c.fetchval("SELECT count(*) FROM sink"))


@check
async def check_cancel(say, c):
    for statement in ("SELECT pg_sleep(60)", "SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1", "SELECT count(pg_sleep(1)) FROM item"):
        try:
            await c.fetch(statement, timeout=0.3)
        except asyncio.TimeoutError as e:
            say(statement, type(e).__name__)
        say("then", await c.fetchval("SELECT count(*) FROM item"))
    task = asyncio.create_task(c.fetchval("SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1"))
    await asyncio.sleep(0.2)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as e:
        say("task", type(e).__name__)
    say("then", await c.fetchval("SELECT count(*) FROM series"))
    await c.execute("SET statement_timeout = 200")
    try:
        await c.fetch("SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1")
    except asyncpg.PostgresError as e:
        say("timeout", describe(e))
    await c.reset()
    say("reset", await c.fetchval("SHOW statement_timeout"), await c.fetchval("SELECT current_setting('search_path')") == SCHEMA)


@check
async def check_rollback(say, c):
    other = await connect()
    count = lambda: other.fetchval("SELECT count(*) FROM sink")
    try:
        async with c.transaction():
            await c.execute("INSERT INTO sink (id, name) VALUES ($1, $2)", 1, "x")
            say("inside", rows(await c.fetch("SELECT id, name FROM sink")), await count(), c.is_in_transaction())
            raise ValueError("given up")
    except ValueError as e:
        say("rolled back", await count(), await c.fetchval("SELECT count(*) FROM sink"))
    async with c.transaction(isolation="repeatable_read"):
        await c.execute("INSERT INTO sink (id) VALUES (2)")
    say("committed", await count())
    async with c.transaction():
        say(await c.fetchval("SELECT count(*) FROM item"))
        try:
            async with c.transaction():  # a savepoint
                await c.fetchval("SELECT 1 / (id - id) FROM item")
        except asyncpg.PostgresError as e:
            say("savepoint", describe(e))
        say("goes on", await c.fetchval("SELECT count(*) FROM item"))
    try:
        async with c.transaction(readonly=True):
            await c.execute("DELETE FROM sink")
    except asyncpg.PostgresError as e:
        say("read only", describe(e))
    say(await c.execute("DELETE FROM sink"), await count())
    await other.close()


@check
async def check_errors(say, c):
    notices = []
    c.add_log_listener(lambda _, m: notices.append((m.severity, m.sqlstate, m.message)))
    for statement, *args in (
        ("SELEC 1",), ("SELECT * FROM nothing",), ("SELECT nothing FROM item",), ("SELECT 1 / (id - $1) FROM item", 7), ("INSERT INTO sink (id) VALUES ($1)", None),
        ("INSERT INTO sink (id, qty) VALUES (1, $1 * 1000)", 100), ("SELECT name::date FROM item WHERE id = $1", 5), ("SELECT $1 FROM item WHERE", 1), ("SELECT id FROM item WHERE $1", True),
        ("SELECT big + 1 FROM item WHERE id = 2",), ("SELECT sum(name) FROM item",), ("SELECT id, count(*) FROM item",), ("SELECT unnest(tags) + 1 FROM item",),
        ("SELECT 1; SELECT $1::int", 1), ("SELECT pg_catalog.nothing(id) FROM item",), ("DROP TABLE IF EXISTS no_table_of_this_name",),
    ):
        try:
            say(statement, rows(await c.fetch(statement, *args))[:2])
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as e:
            said = e.as_dict() if isinstance(e, asyncpg.PostgresError) else {}
            # Errors of foreign tables say in their context which server they come from.
            for internal in ("server_source_filename", "server_source_line", "server_source_function", "context"):
                said.pop(internal, None)
            said.pop("schema_name", None)
            say(statement, describe(e), said)
    await asyncio.sleep(0)
    say("notices", notices)


run(globals())
