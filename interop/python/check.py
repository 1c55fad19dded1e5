"""What the Python clients share: the environment, and the lines that they print. interop/README.md is the contract."""

import datetime
import decimal
import math
import os
import sys
import uuid

URL = os.environ["SLUICE_INTEROP_URL"]
SCHEMA = os.environ["SLUICE_INTEROP_SCHEMA"]
SCRATCH = os.environ["SLUICE_INTEROP_SCRATCH"]
ONLY = [name for name in os.environ.get("SLUICE_INTEROP_CHECKS", "").split(",") if name]

# The columns of item and of sink.
ITEM = "id name price qty big ratio r4 ok day at atz uid doc tags raw span t note".split()
SINK = "id name price qty at raw".split()

# Rows for sink.
ROWS = [
    (1, "one", decimal.Decimal("1.50"), 1, datetime.datetime(2024, 2, 29, 12, 30, 0, 123456), b"\x00\xff'\\"),
    (2, "zwei ü 日本 🙂", decimal.Decimal("-99999999.99"), -32768, datetime.datetime(1, 1, 1), b""),
    (3, None, None, None, None, None),
    (4, "tab\tnewline\n\\N", decimal.Decimal("0.00"), 0, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), bytes(range(256))),
]


def show(value):
    """A value as text that differs where the value or its type does."""
    if isinstance(value, (memoryview, bytearray)):
        value = bytes(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return "datetime(" + value.astimezone(datetime.timezone.utc).isoformat() + ")"
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)):
        return f"{type(value).__name__}({value})"
    if isinstance(value, float) and value == 0 and math.copysign(1, value) < 0:
        return "-0.0"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return ("[%s]" if isinstance(value, list) else "(%s)") % ", ".join(show(v) for v in value)
    return repr(value)


def neutral(text):
    """A text without the name of the schema, which is another in each run."""
    return str(text).replace(SCHEMA + ".", "SCHEMA.").replace(f'"{SCHEMA}"', '"SCHEMA"').replace(f"'{SCHEMA}'", "'SCHEMA'")


def say(name, *details):
    """Prints one line of a check."""
    text = " ".join(detail if isinstance(detail, str) else show(detail) for detail in details)
    text = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")
    print(f"{name}\t{text}", flush=True)


def sqlstate(error):
    """The SQLSTATE of an error of any of the drivers, also one that wraps a driver's."""
    while error is not None:
        for attribute in ("sqlstate", "pgcode"):
            code = getattr(error, attribute, None)
            if code:
                return code
        error = getattr(error, "orig", None) or error.__cause__
    return "-"


def describe(error):
    """Class, SQLSTATE and first line of the message of an error."""
    message = str(error).split("\n")[0]
    return f"{type(error).__name__} {sqlstate(error)} {neutral(message)}"


def run(module):
    """Runs the functions that a module names check_NAME, each for itself, and exits."""
    for name in "connect introspect types prepared cursor pipeline copy cancel rollback errors".split():
        if ONLY and name not in ONLY:
            continue
        function = module["check_" + name]
        if isinstance(function, str):
            say(name, "n/a " + function)
            continue
        try:
            function(lambda *details, name=name: say(name, *details))
        except Exception as error:
            say(name, "FAIL " + describe(error))
            if os.environ.get("SLUICE_INTEROP_DEBUG"):
                raise
    sys.exit(0)
