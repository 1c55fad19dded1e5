"""Django on psycopg: inspectdb, ORM queries, aggregates, iterators with server-side cursors, bulk operations."""

import io
import os
import sys
import threading
from urllib.parse import unquote, urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import django
from django.conf import settings

from check import ROWS, SCHEMA, SCRATCH, SINK, URL, describe, run

at = urlsplit(URL)
settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": at.path[1:], "USER": at.username, "PASSWORD": unquote(at.password), "HOST": at.hostname, "PORT": at.port,
        "OPTIONS": {"options": f"-c search_path={SCHEMA},{SCRATCH}"},
    }},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"], USE_TZ=True, TIME_ZONE="UTC", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.contrib.postgres.fields import ArrayField
from django.core.management import call_command
from django.db import Error, connection, models, transaction
from django.db.models import Avg, Case, Count, Exists, F, Max, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import Cast, ExtractYear, Length, Lower, Rank, TruncMonth


class Item(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    price = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    qty = models.SmallIntegerField(null=True)
    big = models.BigIntegerField(null=True)
    ratio = models.FloatField(null=True)
    ok = models.BooleanField(null=True)
    day = models.DateField(null=True)
    atz = models.DateTimeField(null=True)
    uid = models.UUIDField(null=True)
    doc = models.JSONField(null=True)
    tags = ArrayField(models.TextField(), null=True)
    raw = models.BinaryField(null=True)
    span = models.DurationField(null=True)
    t = models.TimeField(null=True)
    note = models.CharField(max_length=40, null=True)

    class Meta:
        managed, db_table, app_label = False, "item", "interop"


class Series(models.Model):
    n = models.BigIntegerField(primary_key=True)
    label = models.TextField()

    class Meta:
        managed, db_table, app_label = False, "series", "interop"


class Sink(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField(null=True)
    price = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    qty = models.SmallIntegerField(null=True)
    raw = models.BinaryField(null=True)

    class Meta:
        managed, db_table, app_label = False, "sink", "interop"


def check_connect(say):
    connection.ensure_connection()
    say(connection.vendor, connection.pg_version, connection.is_usable(), connection.get_autocommit(), connection.timezone_name)
    f = connection.features
    say(f.has_native_uuid_field, f.supports_transactions, f.can_return_rows_from_bulk_insert, f.has_select_for_update_skip_locked)


def check_introspect(say):
    out = io.StringIO()
    call_command("inspectdb", "item", "series", "sink", stdout=out)
    for line in out.getvalue().splitlines():
        say("inspectdb", line)
    i = connection.introspection
    with connection.cursor() as cursor:
        say(sorted((t.name, t.type, t.comment) for t in i.get_table_list(cursor) if t.name in ("item", "series", "sink")))
        for table in ("item", "series", "sink"):
            for column in i.get_table_description(cursor, table):
                say(table, tuple(column))
            say(table, i.get_constraints(cursor, table), i.get_relations(cursor, table), i.get_sequences(cursor, table), i.get_primary_key_columns(cursor, table))


def check_types(say):
    fields = [f.name for f in Item._meta.fields]
    for field in fields:
        for row in Item.objects.filter(id__gt=2).order_by("id").values_list("id", field):
            say(field, row)
        for value in Item.objects.filter(id__range=(5, 9), **{field + "__isnull": False}).order_by(field).values_list(field, flat=True).distinct():
            if field not in ("doc", "raw"):
                say("parameter", field, value, list(Item.objects.filter(**{field: value}).order_by("id").values_list("id", flat=True)[:3]))
    lookups = dict(name__icontains="ITEM 1", name__startswith="quote", name__regex="^item [5-7]", name__in=["", "item 5"], day__year=2024, day__month=7, day__week_day=3, atz__hour__lt=1,
                   doc__id=5, doc__has_key="list", doc__contains={"id": 9}, doc__list__1=2.5, tags__contains=["ü"], tags__len=8, tags__0="a", ok=True, note__isnull=True,
                   price__gte=100, span__gt=__import__("datetime").timedelta(hours=3), t__lt="01:00", uid__isnull=True, raw=b"")
    for lookup, value in lookups.items():
        say(lookup, list(Item.objects.filter(**{lookup: value}).order_by("id").values_list("id", flat=True)[:12]))


def check_prepared(say):
    # Django's own queries, some of them several times.
    for n in (3, 3, 3, 77):
        say(Item.objects.get(pk=n).name)
    q = Item.objects
    say(q.aggregate(Count("id"), Sum("price"), Avg("qty"), Max("day"), m=Max("atz"), n=Count("uid", distinct=True)))
    say(list(q.values("ok").annotate(n=Count("id"), p=Sum(F("price") * F("qty"))).order_by("ok")))
    say(list(q.annotate(month=TruncMonth("day")).values("month").annotate(n=Count("id")).order_by("month")[:5]))
    say(list(q.filter(id__lt=12).annotate(r=Window(Rank(), partition_by=F("ok"), order_by=F("id").desc())).order_by("id").values_list("id", "r")))
    say(list(q.annotate(kind=Case(When(qty__lt=0, then=Value("minus")), default=Value("plus")), size=Length("name"), low=Lower("name"), text=Cast("price", models.TextField()))
             .filter(id__lt=6).order_by("-id").values_list("kind", "size", "low", "text")))
    say(q.filter(Q(ok=True) | ~Q(price__lt=F("qty")), Exists(Series.objects.filter(n=OuterRef("id")))).exclude(name="").count())
    say(list(q.filter(id__lt=4).annotate(l=Subquery(Series.objects.filter(n=OuterRef("id")).values("label")[:1]), y=ExtractYear("day")).order_by("id").values_list("l", "y")))
    say(list(q.filter(id__lt=5).values_list("id").union(Series.objects.filter(n__range=(3, 7)).values_list("n")).order_by("id")))
    say(q.filter(id=5).exists(), q.order_by("id").first().id, q.order_by("-big").exclude(big=None).last().id, sorted(q.in_bulk([1, 2, 999])))
    say([i.id for i in q.raw("SELECT * FROM item WHERE id %% 50 = %s ORDER BY id", [0])])
    say(list(q.order_by("name", "id").distinct("name").values_list("id", flat=True)[:5]))
    say(type(q.filter(id=1).explain()).__name__)


def check_cursor(say):
    for size in (7, 2000):
        rows = Series.objects.filter(n__lte=3000).order_by("n").iterator(chunk_size=size)
        say(size, next(rows).n, sum(s.n for s in rows))
    rows = Series.objects.order_by("n").iterator()
    say("early", next(rows).label)
    rows.close()
    say(sum(Series.objects.values_list("n", flat=True).iterator()))
    with transaction.atomic():
        a, b = Series.objects.order_by("n").iterator(chunk_size=2), Item.objects.order_by("id").iterator(chunk_size=2)
        say("two", [(next(a).n, next(b).id) for _ in range(5)])
        a.close()
        b.close()


def check_pipeline(say):
    rows = [Sink(id=r[0], name=r[1], price=r[2], qty=r[3], raw=r[5]) for r in ROWS]
    say("bulk_create", len(Sink.objects.bulk_create(rows, batch_size=3)), list(Sink.objects.order_by("id").values_list()))
    for r in rows:
        r.name = f"changed {r.id}"
    say("bulk_update", Sink.objects.bulk_update(rows, ["name"]), list(Sink.objects.order_by("id").values_list("name", flat=True)))
    say("update", Sink.objects.filter(id__lte=2).update(qty=F("id") + 1, name=Value("same")), list(Sink.objects.order_by("id").values_list("qty", "name")))
    say("delete", Sink.objects.all().delete())


check_copy = "Django has no COPY"


def check_cancel(say):
    with connection.cursor() as cursor:
        for statement in ("SELECT pg_sleep(60)", "SELECT count(*) FROM series a, series b, series c WHERE a.n + b.n + c.n = -1"):
            timer = threading.Timer(0.3, connection.connection.cancel_safe)
            timer.start()
            try:
                cursor.execute(statement)
            except Error as e:
                say(statement, describe(e))
            timer.join()
        cursor.execute("SET statement_timeout = 200")
        try:
            cursor.execute(statement)
        except Error as e:
            say("timeout", describe(e))
        cursor.execute("RESET statement_timeout")
    say(Item.objects.count())


def check_rollback(say):
    try:
        with transaction.atomic():
            Sink.objects.create(id=1, name="x")
            say("inside", Sink.objects.count())
            raise ValueError("given up")
    except ValueError:
        say("rolled back", Sink.objects.count())
    with transaction.atomic():
        s = Sink.objects.create(id=2, name="y", price=2)
        s.price = 3
        s.save()
    say("committed", list(Sink.objects.values_list("id", "name", "price")))
    with transaction.atomic():
        try:
            with transaction.atomic():
                list(Item.objects.raw("SELECT id / 0 AS id FROM item"))
        except Error as e:
            say("savepoint", describe(e))
        say("goes on", Item.objects.count())
    Sink.objects.get(id=2).delete()
    say(Sink.objects.count())
    say("get_or_create", Sink.objects.get_or_create(id=4, defaults={"name": "z"})[1], Sink.objects.get_or_create(id=4)[1])
    try:
        with transaction.atomic():
            with transaction.atomic():
                Sink.objects.filter(id=4).update(name="nested")
        say("nested-write", list(Sink.objects.values_list("name", flat=True)))
    except Error as e:
        say("nested-write", describe(e))
    try:
        say("update_or_create", Sink.objects.update_or_create(id=5, defaults={"name": "new"})[1])
    except Error as e:
        say("update_or_create", describe(e))
    Sink.objects.all().delete()


def check_errors(say):
    with connection.cursor() as cursor:
        for statement, args in (("SELEC 1", ()), ("SELECT * FROM nothing", ()), ("SELECT nothing FROM item", ()), ("SELECT 1 / (id - %s) FROM item", (5,)),
                                ("INSERT INTO sink (id) VALUES (%s)", (None,)), ("INSERT INTO sink (id, qty) VALUES (1, %s)", (70000,)), ("SELECT name::date FROM item WHERE id = %s", (5,))):
            try:
                cursor.execute(statement, args)
                say(statement, cursor.fetchall())
            except Error as e:
                say(statement, describe(e), [c.__name__ for c in type(e).__mro__[:3]])
    try:
        Item.objects.get(name="no such name")
    except Item.DoesNotExist as e:
        say(describe(e))
    try:
        Sink(id=None, name="x").save(force_insert=True)
    except Error as e:
        say(describe(e))


run(globals())
