"""A current ClickHouse: clickhouse-local of a library, which listens.

Usage: current.py LIBRARY CONFIG HOST:PORT:PORT…

Each pair of ports is one that clients connect to, and the one that the library listens at. The library ends when a connection is reset
while it reads, so that what clients do goes through here, where that becomes a close.
"""

import ctypes
import socket
import sys
import threading

LIBRARY, CONFIG, HOST, *PORTS = sys.argv[1:]
SERVE = """SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP;
SELECT sleepEachRow(1) FROM system.numbers FORMAT Null SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0"""


def pump(source, target):
    """Hands on what one side sends, as fast as the other takes it. Where that is gone, what is sent ends here."""
    gone = False
    try:
        while data := source.recv(1 << 18):
            if not gone:
                try:
                    target.sendall(data)
                except OSError:
                    gone = True
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def carry(client, port):
    with client:
        try:
            server = socket.create_connection((HOST, port))
        except OSError:
            return
        with server:
            for s in (client, server):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()


def forward(listener, port):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=carry, args=(client, port), daemon=True).start()


for outer, inner in (map(int, p.split(":")) for p in PORTS):
    threading.Thread(target=forward, args=(socket.create_server((HOST, outer), backlog=128), inner), daemon=True).start()
arguments = [a.encode() for a in ("clickhouse", "--config-file=" + CONFIG, "--multiquery", "--query=" + SERVE)]
ctypes.CDLL(LIBRARY).query_stable_v2(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
