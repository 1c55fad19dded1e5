"""dbt: seeds, tables, views and incremental models over the tables, tests, sources, catalogue."""

import json
import os
import shutil
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import psycopg2
from dbt.cli.main import dbtRunner

from check import SCHEMA, SCRATCH, URL, describe, neutral, run

# dbt writes logs, compiled models and results beside its project.
WORK = tempfile.mkdtemp(prefix="interop-dbt-")
PROJECT = os.path.join(WORK, "project")
shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "project"), PROJECT)
os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
with open(os.path.join(PROJECT, "profiles.yml"), "w") as f:
    target = dict(type="postgres", host=os.environ["PGHOST"], port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"], password=os.environ["PGPASSWORD"],
                  dbname=os.environ["PGDATABASE"], schema=SCRATCH, threads=2)
    json.dump({"interop": {"target": "it", "outputs": {"it": target}}}, f)

RUNNER = dbtRunner()


def dbt(say, *args):
    """Runs a command of dbt and says what became of each node."""
    outcome = RUNNER.invoke([*args, "--project-dir", PROJECT, "--profiles-dir", PROJECT, "--log-level", "none", "--quiet", "--no-use-colors"])
    say(args[0], outcome.success, describe(outcome.exception) if outcome.exception else "")
    for r in sorted(getattr(outcome.result, "results", None) or [], key=lambda r: getattr(getattr(r, "node", None), "name", "")):
        response = getattr(r, "adapter_response", None) or {}
        say(args[0], r.node.resource_type.value, r.node.name, r.status.value, r.failures, response.get("_message"), neutral(r.message or "").split("\n")[0][:100])
    return outcome


def query(statement):
    c = psycopg2.connect(URL)
    try:
        with c, c.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()
    finally:
        c.close()


def check_connect(say):
    dbt(say, "debug")


def check_introspect(say):
    dbt(say, "seed")
    dbt(say, "run")
    outcome = dbt(say, "docs", "generate")
    with open(os.path.join(PROJECT, "target", "catalog.json")) as f:
        catalog = json.load(f)
    say("errors", catalog["errors"])
    for kind in ("sources", "nodes"):
        for name, table in sorted(catalog[kind].items()):
            say(name, table["metadata"]["type"], table["metadata"]["name"], table["metadata"]["owner"], table["metadata"]["comment"])
            for column, facts in table["columns"].items():
                say(name, column, facts["type"], facts["index"])


def check_types(say):
    # The types that models get from the tables' columns.
    for row in query(f"""SELECT c.relname, c.relkind, attname, format_type(atttypid, atttypmod) FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
            WHERE relnamespace = '{SCRATCH}'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 ORDER BY 1, attnum"""):
        say(row)
    for table in ("busy", "labels", "growing", "above"):
        for row in query(f"SELECT * FROM {SCRATCH}.{table} ORDER BY 1"):
            say(table, row)


check_prepared = "dbt prepares no statements"
check_cursor = "dbt has no cursors"


def check_pipeline(say):
    # Many statements: everything again, the incremental model on top of what is there.
    dbt(say, "build")
    for row in query(f"SELECT count(*), min(id), max(id), sum(price) FROM {SCRATCH}.growing"):
        say("growing", row)
    dbt(say, "run", "--full-refresh", "--select", "growing", "above")


def check_copy(say):
    # Seeds are dbt's way to load rows.
    dbt(say, "seed", "--full-refresh")
    say(query(f"SELECT * FROM {SCRATCH}.categories ORDER BY 1"))


check_cancel = "dbt cancels on Ctrl-C only, when it ends"


def check_rollback(say):
    # A model that fails leaves what was there.
    path = os.path.join(PROJECT, "models", "busy.sql")
    with open(path, "a") as f:
        f.write("having sum(1 / (i.id - i.id)) > 0\n")
    dbt(say, "run", "--select", "busy")
    say(query(f"SELECT category, title, items FROM {SCRATCH}.busy ORDER BY 1"))
    say(query(f"SELECT count(*) FROM pg_class WHERE relnamespace = '{SCRATCH}'::regnamespace AND relname LIKE '%\\_\\_dbt%'"))


def check_errors(say):
    for name, text in (("missing", "select * from {{ source('lake', 'item') }} where nothing = 1"), ("syntax", "selec 1"), ("gone", "select * from nothing")):
        path = os.path.join(PROJECT, "models", name + ".sql")
        with open(path, "w") as f:
            f.write(text)
        outcome = dbt(say, "run", "--select", name)
        for r in outcome.result.results:
            say(name, neutral(r.message).replace(PROJECT, "").split("\n")[1:2])
        os.remove(path)
    dbt(say, "test")


try:
    run(globals())
finally:
    shutil.rmtree(WORK, ignore_errors=True)
