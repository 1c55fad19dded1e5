"""A SQL warehouse for tests: what Sluice uses of the Statement Execution API, over a Spark in this process.

Usage: warehouse.py PORT. Statements run one after another; a result is held whole, and yielded in files of a few rows.
"""

import http.server
import itertools
import json
import re
import sys

import pyarrow
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

PORT = int(sys.argv[1])
TOKEN, WAREHOUSE = "spark-token", "spark-warehouse"
ROWS = 1000  # in a file

CONF = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-Duser.timezone=Europe/Berlin -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": "warehouse",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # a statement runs once
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}

# What manifests call types, by the names that Spark has for them.
NAMES = {"tinyint": "BYTE", "smallint": "SHORT", "bigint": "LONG", "void": "NULL"}


def begin():
    builder = SparkSession.builder.master("local[1]")
    for key, value in CONF.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


SPARK = begin()
RESULTS, NUMBERS = {}, itertools.count(1)


def column(field):
    text = field.dataType.simpleString()
    name, _, numbers = text.partition("(")
    out = {"name": field.name, "type_text": text.upper(), "type_name": NAMES.get(name, name.upper())}
    if name == "decimal":
        out["type_precision"], out["type_scale"] = map(int, numbers.rstrip(")").split(","))
    return out


def failure(error):
    found = re.search(r"SQLSTATE: (\w{5})", str(error))
    return {"error_code": "BAD_REQUEST", "message": str(error), "sql_state": found.group(1) if found else ""}


def execute(order):
    """Runs a statement and returns what the service says of it."""
    number = str(next(NUMBERS))
    told = {"statement_id": number, "status": {"state": "SUCCEEDED"}}
    try:
        values = {p["name"]: p.get("value") for p in order.get("parameters", [])}
        for name in [n for n, v in values.items() if v is None]:  # of no type, which the service's are
            values[name] = SPARK_NULL
        frame = SPARK.sql(order["statement"], args=values) if values else SPARK.sql(order["statement"])
        table = frame.toArrow()
    except (PySparkException, Exception) as error:  # whatever it is, the statement has failed
        told["status"] = {"state": "FAILED", "error": failure(error)}
        RESULTS[number] = (told, [])
        return told
    files = [table.slice(at, ROWS) for at in range(0, table.num_rows, ROWS)]
    told["manifest"] = {
        "format": "ARROW_STREAM", "schema": {"columns": [column(f) for f in frame.schema.fields]},
        "total_chunk_count": len(files), "total_row_count": table.num_rows,
    }
    RESULTS[number] = (told, files)
    return told


def link(number, at):
    files = RESULTS[number][1]
    out = {"chunk_index": at, "row_count": files[at].num_rows, "external_link": f"http://127.0.0.1:{PORT}/files/{number}/{at}"}
    if at + 1 < len(files):
        out["next_chunk_index"] = at + 1
    return {"external_links": [out]}


def content(number, at):
    sink = pyarrow.BufferOutputStream()
    table = RESULTS[number][1][at]
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, status, what):
        self.reply(status, json.dumps(what).encode())

    def authorized(self):
        if self.headers.get("Authorization") == "Bearer " + TOKEN:
            return True
        self.say(401, {"error_code": "UNAUTHENTICATED", "message": "no credential"})
        return False

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.authorized():
            return
        if self.path.endswith("/cancel"):
            self.say(200, {})
            return
        order = json.loads(body)
        if order["warehouse_id"] != WAREHOUSE:
            self.say(404, {"error_code": "NOT_FOUND", "message": "no such warehouse"})
            return
        self.say(200, execute(order))

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts[0] == "files":
            self.reply(200, content(parts[1], int(parts[2])), "application/octet-stream")
            return
        if not self.authorized():
            return
        number = parts[4]
        if len(parts) > 5:
            self.say(200, link(number, int(parts[7])))
            return
        self.say(200, RESULTS[number][0])

    def log_message(self, *_):
        pass


def typed_null():
    from pyspark.sql.functions import lit

    return lit(None).cast("string")


SPARK_NULL = typed_null()
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
