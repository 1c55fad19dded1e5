"""ClickHouse's HTTP interface over chdb, which is ClickHouse as a library.

Usage: endpoint.py PORT DIRECTORY USER PASSWORD

A request has a connection of its own, so that settings hold for it alone. The answer goes out block by block; what fails behind the
first one ends it as current servers do. KILL QUERY finds a statement by query_id, which stands in a comment before it.
"""

import http.server
import os
import random
import re
import select
import socket
import string
import sys
import tempfile
import threading
import urllib.parse

import chdb

PORT, DIRECTORY, USER, PASSWORD = sys.argv[1:]
OWN = {"query_id", "database", "default_format", "readonly"}  # what is no setting, beside param_…
STREAMED = re.compile(r"(\s|/\*.*?\*/|\()*(SELECT|WITH)\b", re.I | re.S)
WRITES = re.compile(r"(\s|/\*.*?\*/|\()*(CREATE|INSERT|ALTER|DROP|TRUNCATE|RENAME|SET|GRANT|SYSTEM|DELETE|UPDATE)\b", re.I | re.S)
KILL = re.compile(r"KILL QUERY WHERE query_id = '([^'\\]*)'\s*$", re.I)
MARKER = "__exception__"


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def kill(query_id):
    with chdb.connect(DIRECTORY) as c:
        c.query("KILL QUERY WHERE query LIKE " + quoted(f"/* {query_id} */%"))


class Failure(Exception):
    """What ClickHouse says of a statement."""

    def __init__(self, text):
        found = re.search(r"Code: (\d+)", str(text))
        self.code = int(found.group(1)) if found else 1002
        self.text = str(text)[found.start():] if found else f"Code: 1002. DB::Exception: {text}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        query = urllib.parse.urlsplit(self.path).query
        self.parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
        self.values = {n[6:]: v for n, v in self.parameters.items() if n.startswith("param_")}
        self.begun = False
        if self.headers.get("Transfer-Encoding") == "chunked":
            sql = self.rows(self.parameters.pop("query"))
        else:
            sql = self.rfile.read(int(self.headers["Content-Length"])).decode(errors="surrogateescape")
        done = threading.Event()
        try:
            self.admit()
            if asked := KILL.match(sql):
                kill(asked.group(1))
                sql = "SELECT 1 WHERE 0"
            watch = threading.Thread(target=self.watch, args=(done,), daemon=True)
            watch.start()
            self.answer(sql)
        except Failure as e:
            self.refuse(e)
        except OSError:
            self.close_connection = True
        finally:
            done.set()

    def rows(self, sql):
        """Puts blocks of an INSERT into a file, and returns the statement that reads them there."""
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(DIRECTORY), delete=False) as f:
            while n := int(self.rfile.readline(), 16):
                f.write(self.rfile.read(n))
                self.rfile.readline()
            self.rfile.readline()
        return sql.removesuffix(" FORMAT Native") + f" SELECT * FROM file({quoted(f.name)}, 'Native')"

    def admit(self):
        if (self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")) != (USER, PASSWORD):
            raise Failure(f"Code: 516. DB::Exception: {self.headers.get('X-ClickHouse-User')}: Authentication failed: password is incorrect, "
                          "or there is no user with such a name. (AUTHENTICATION_FAILED)")

    def watch(self, done):
        """Ends the statement when the client hangs up, if that is wanted."""
        if self.parameters.get("cancel_http_readonly_queries_on_client_close") != "1":
            return
        while not done.is_set():
            if select.select([self.connection], [], [], 0.05)[0]:
                try:
                    gone = not self.connection.recv(1, socket.MSG_PEEK)
                except OSError:
                    gone = True
                if gone and not done.is_set():
                    kill(self.parameters["query_id"])
                return

    def answer(self, sql):
        with chdb.connect(DIRECTORY) as c:
            try:
                settings = {"max_query_size": str(1 << 25)} | {n: v for n, v in self.parameters.items() if n not in OWN and not n.startswith("param_")}
                c.query("SET " + ", ".join(f"{name} = {quoted(value)}" for name, value in settings.items()))
                if database := self.parameters.get("database"):
                    c.query("USE `" + database.replace("\\", "\\\\").replace("`", "\\`") + "`")
                if self.parameters.get("readonly") == "2" and WRITES.match(sql):
                    raise Failure("Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)")
                if STREAMED.match(sql):
                    self.stream(c, f"/* {self.parameters.get('query_id')} */ {sql}")
                else:
                    whole = bytes(c.query(sql, self.format(), params=self.values).bytes())
                    self.begin()
                    if whole:
                        self.chunk(whole)
            except (Failure, OSError):
                raise
            except Exception as e:
                raise Failure(e) from e
        self.wfile.write(b"0\r\n\r\n")

    def format(self):
        return self.parameters.get("default_format", "TSV")

    def stream(self, connection, sql):
        blocks = connection.send_query(sql, self.format(), params=self.values)
        try:
            while (block := blocks.fetch()) is not None and len(data := block.bytes()) > 0:
                self.begin()
                self.chunk(bytes(data))
        except OSError:
            blocks.cancel()
            raise
        self.begin()

    def begin(self, status=200, code=None):
        if self.begun:
            return
        self.begun = True
        self.tag = "".join(random.choices(string.ascii_lowercase, k=16))
        self.send_response(status)
        self.send_header("X-ClickHouse-Exception-Tag", self.tag)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")

    def refuse(self, failure):
        text = failure.text + "\n"
        try:
            if not self.begun:
                self.begin(500, failure.code)
                self.chunk(text.encode(errors="replace"))
                self.wfile.write(b"0\r\n\r\n")
                return
            size = len(text.encode(errors="replace"))
            self.chunk(f"\r\n{MARKER}\r\n{self.tag}\r\n{text}\r\n{size} {self.tag}\r\n{MARKER}\r\n".encode(errors="replace"))
        except OSError:
            pass
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


keep = chdb.connect(DIRECTORY)  # or the engine would stop between requests
Server(("127.0.0.1", int(PORT)), Handler).serve_forever()
