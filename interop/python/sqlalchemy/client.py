"""SQLAlchemy 2 on psycopg: reflection, Core, ORM, stream_results, insertmanyvalues."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import sqlalchemy as sa
from sqlalchemy import orm

from check import ITEM, ROWS, SCHEMA, SCRATCH, SINK, URL, describe, neutral, run

ENGINE = sa.create_engine(URL.replace("postgres://", "postgresql+psycopg://"), insertmanyvalues_page_size=3)


def reflect(*names):
    """The tables as reflection finds them, whatever schema they are in."""
    metadata = sa.MetaData(schema=SCHEMA)
    metadata.reflect(ENGINE, only=names or None, views=True)
    return metadata


class Base(orm.DeclarativeBase):
    metadata = sa.MetaData(schema=SCHEMA)


class Item(Base):
    __tablename__ = "item"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]
    price = orm.mapped_column(sa.Numeric(10, 2))
    qty = orm.mapped_column(sa.SmallInteger)
    at = orm.mapped_column(sa.DateTime)
    tags = orm.mapped_column(sa.ARRAY(sa.Text))
    doc = orm.mapped_column(sa.dialects.postgresql.JSONB)
    uid = orm.mapped_column(sa.Uuid)


class Sink(Base):
    __tablename__ = "sink"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
    name = orm.mapped_column(sa.Text)
    price = orm.mapped_column(sa.Numeric(10, 2))
    qty = orm.mapped_column(sa.SmallInteger)
    at = orm.mapped_column(sa.DateTime)
    raw = orm.mapped_column(sa.LargeBinary)


class Series(Base):
    __tablename__ = "series"
    n: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    label = orm.mapped_column(sa.Text)


def check_connect(say):
    with ENGINE.connect() as c:
        d = ENGINE.dialect
        say(d.name, d.server_version_info, d.default_schema_name, d.supports_native_uuid, c.get_isolation_level(), c.default_isolation_level)
        say(c.scalar(sa.text("SELECT current_user")), c.in_transaction())
        say(c.execution_options(isolation_level="AUTOCOMMIT").get_isolation_level() if not c.in_transaction() else "in a transaction")
    with ENGINE.connect().execution_options(isolation_level="SERIALIZABLE") as c:
        say(c.scalar(sa.select(sa.func.count()).select_from(Item)), c.get_isolation_level())


def check_introspect(say):
    i = sa.inspect(ENGINE)
    say(sorted(i.get_table_names(SCHEMA)), sorted(i.get_foreign_table_names(SCHEMA)), sorted(i.get_view_names(SCHEMA)), SCHEMA in i.get_schema_names())
    for table in ("item", "series", "sink"):
        say(table, i.has_table(table, SCHEMA), i.get_pk_constraint(table, SCHEMA), i.get_foreign_keys(table, SCHEMA), i.get_indexes(table, SCHEMA),
            i.get_unique_constraints(table, SCHEMA), i.get_check_constraints(table, SCHEMA), i.get_table_comment(table, SCHEMA))
        for column in i.get_columns(table, SCHEMA):
            say(table, {k: repr(v) for k, v in column.items()})
    kinds = sa.dialects.postgresql.base.ObjectKind.ANY if hasattr(sa.dialects.postgresql.base, "ObjectKind") else sa.engine.reflection.ObjectKind.ANY
    for (_, table), columns in sorted(i.get_multi_columns(SCHEMA, kind=kinds).items()):
        say("multi", table, [c["name"] for c in columns])
    for name in ("item", "series", "sink"):
        t = sa.Table(name, sa.MetaData(), schema=SCHEMA, autoload_with=ENGINE)
        say("reflected", neutral(str(sa.schema.CreateTable(t).compile(dialect=ENGINE.dialect))))
    try:
        sa.Table("nothing", sa.MetaData(), schema=SCHEMA, autoload_with=ENGINE)
    except sa.exc.NoSuchTableError as e:
        say(describe(e))


def check_types(say):
    t = sa.Table("item", sa.MetaData(), schema=SCHEMA, autoload_with=ENGINE)
    with ENGINE.connect() as c:
        for column in ITEM:
            value = sa.cast(t.c[column], sa.Text) if column == "atz" else t.c[column]
            for row in c.execute(sa.select(t.c.id, value).order_by(t.c.id)):
                say(column, tuple(row))
            if column in ("doc", "r4", "id", "span"):
                continue
            for (value,) in c.execute(sa.select(t.c[column]).where(t.c.id.between(5, 12), t.c[column].is_not(None)).distinct().order_by(t.c[column])).all():
                say("parameter", column, value, c.scalars(sa.select(t.c.id).where(t.c[column] == value).order_by(t.c.id).limit(3)).all())
        say("in", c.scalars(sa.select(t.c.id).where(t.c.name.in_(["item 5", "", "nothing"])).order_by(t.c.id)).all())
        say("like", c.scalars(sa.select(t.c.id).where(t.c.name.icontains("ITEM 1", autoescape=True)).order_by(t.c.id)).all())
        say("json", c.execute(sa.select(t.c.id, t.c.doc["name"].astext, t.c.doc["list"][1]).where(t.c.doc.has_key("name")).order_by(t.c.id).limit(3)).all())
        say("array", c.execute(sa.select(t.c.id, t.c.tags[1]).where(t.c.tags.contains(["ü"])).order_by(t.c.id).limit(3)).all())


def check_prepared(say):
    with ENGINE.connect() as c:
        statement = sa.select(Item.id, Item.name).where(Item.id == sa.bindparam("id"))
        for id in (1, 5, 5, 5, 5, 5, 5, 77, 201):  # psycopg prepares what it has seen often enough
            say(c.execute(statement, {"id": id}).all())
        rest = Item.qty % sa.literal_column("5")
        grouped = (sa.select(rest, sa.func.count(), sa.func.sum(Item.price), sa.func.max(Item.at)).where(Item.id > sa.bindparam("low"))
                   .group_by(rest).having(sa.func.count() > 3).order_by(sa.nulls_first(rest.asc())))
        for low in (0, 100):
            say([tuple(r) for r in c.execute(grouped, {"low": low})])
        ranked = sa.select(Item.id, sa.func.row_number().over(partition_by=Item.qty % 3, order_by=Item.id).label("r")).where(Item.id < 20).subquery()
        say([tuple(r) for r in c.execute(sa.select(ranked).where(ranked.c.r <= 2).order_by(ranked.c.id))])
        tree = sa.select(sa.literal(1).label("x")).cte(recursive=True)
        tree = tree.union_all(sa.select(tree.c.x + 1).where(tree.c.x < 5))
        say([tuple(r) for r in c.execute(sa.select(Item.id, Item.name).join(tree, tree.c.x == Item.id).order_by(Item.id))])
        say(c.execute(sa.select(sa.func.count()).where(sa.exists().where(Series.n == Item.id).correlate(Item))).all())


def check_cursor(say):
    with ENGINE.connect() as c:
        for size in (7, 1000):
            result = c.execution_options(yield_per=size).execute(sa.select(Series.n, Series.label).where(Series.n <= 3000).order_by(Series.n))
            say(size, [len(p) for p in result.partitions()][-3:])
        result = c.execution_options(stream_results=True, max_row_buffer=100).execute(sa.select(Series.n).order_by(Series.n))
        say("early", result.fetchmany(3), result.fetchone())
        result.close()
        a = c.execution_options(stream_results=True).execute(sa.select(Series.n).order_by(Series.n))
        b = c.execution_options(stream_results=True).execute(sa.select(Item.id).order_by(Item.id))
        say("two", a.fetchmany(2), b.fetchmany(2), a.fetchmany(2))
    with orm.Session(ENGINE) as s:
        say("ORM", sum(x.n for x in s.scalars(sa.select(Series).order_by(Series.n).execution_options(yield_per=500))))


def check_pipeline(say):
    rows = [dict(zip(SINK, r)) for r in ROWS]
    with ENGINE.begin() as c:
        result = c.execute(sa.insert(Sink).returning(Sink.id, sort_by_parameter_order=True), rows)
        say("insertmanyvalues", result.scalars().all())
        say(sorted(tuple(r) for r in c.execute(sa.select(Sink.__table__)).all())[:2])
        say("executemany", c.execute(sa.update(Sink.__table__).where(Sink.__table__.c.id == sa.bindparam("i")).values(qty=sa.bindparam("q")), [{"i": 1, "q": 9}, {"i": 2, "q": 8}]).rowcount)
        say("deleted", c.execute(sa.delete(Sink)).rowcount)


def check_copy(say):
    with ENGINE.begin() as c:
        cursor = c.connection.cursor()
        with cursor.copy(f'COPY (SELECT id, tags, raw FROM "{SCHEMA}".item WHERE id < 20 ORDER BY id) TO STDOUT') as copy:
            for row in copy.rows():
                say(row)
        with cursor.copy(f'COPY "{SCHEMA}".sink (id, name) FROM STDIN') as copy:
            for row in ROWS:
                copy.write_row(row[:2])
        say(cursor.rowcount, c.execute(sa.select(Sink.id, Sink.name).order_by(Sink.id)).all())
        c.execute(sa.delete(Sink))


def check_cancel(say):
    a, b, d = (orm.aliased(Series) for _ in range(3))
    slow = sa.select(sa.func.count()).select_from(a).join(b, sa.true()).join(d, sa.true()).where(a.n + b.n + d.n == -1)
    with ENGINE.connect() as c:
        timer = threading.Timer(0.3, c.connection.driver_connection.cancel_safe)
        timer.start()
        try:
            say(c.scalar(slow))
        except sa.exc.DBAPIError as e:
            say(type(e).__name__, describe(e.orig), e.connection_invalidated)
        timer.join()
        c.rollback()
        c.execute(sa.text("SET LOCAL statement_timeout = 200"))
        try:
            say(c.scalar(slow))
        except sa.exc.DBAPIError as e:
            say(type(e).__name__, describe(e.orig), e.connection_invalidated)
        c.rollback()
        say(c.scalar(sa.select(sa.func.count()).select_from(Series)))


def check_rollback(say):
    def count():
        with ENGINE.connect() as c:
            return c.scalar(sa.select(sa.func.count()).select_from(Sink))

    with orm.Session(ENGINE) as s:
        s.add_all([Sink(id=1, name="x"), Sink(id=2, price=1.5)])
        s.flush()
        say("inside", s.scalars(sa.select(Sink.id).order_by(Sink.id)).all(), count())
        s.rollback()
        say("rolled back", s.scalar(sa.select(sa.func.count()).select_from(Sink)), count())
        s.add_all([Sink(id=n, name=f"row {n}") for n in range(5)])
        s.commit()
        say("committed", count())
        row = s.get(Sink, 3)
        row.name, row.price = "changed", 7
        s.delete(s.get(Sink, 4))
        s.commit()
        say("changed", [(x.id, x.name, x.price) for x in s.scalars(sa.select(Sink).order_by(Sink.id))])
        s.execute(sa.delete(Sink))
        s.commit()
    with orm.Session(ENGINE) as s:
        say([(x.id, x.name, x.tags) for x in s.scalars(sa.select(Item).where(Item.doc["id"].as_integer() < 10).order_by(Item.price.desc().nulls_last()))])
        try:
            with s.begin_nested():
                s.execute(sa.select(sa.literal(1) / (Item.id - Item.id)))
        except sa.exc.DBAPIError as e:
            say("savepoint", describe(e.orig))
        say("goes on", s.scalar(sa.select(sa.func.count()).select_from(Item)), count())
        try:
            with s.begin_nested():
                s.add(Sink(id=9))
            say("nested-write", s.scalars(sa.select(Sink.id)).all())
        except sa.exc.DBAPIError as e:
            say("nested-write", describe(e.orig))
        s.rollback()


def check_errors(say):
    with ENGINE.connect() as c:
        for statement in (
            sa.text("SELEC 1"), sa.select(sa.column("nothing")).select_from(Item), sa.select(sa.text("1")).select_from(sa.table("nothing")),
            sa.insert(Sink.__table__).values(id=None), sa.insert(Sink.__table__).values(id=1, qty=70000), sa.select(sa.literal(1) / (Item.id - 5)),
            sa.select(sa.cast(Item.name, sa.Integer)).where(Item.id == 5), sa.select(Item.__table__.c.id, sa.func.count()),
        ):
            try:
                say(c.execute(statement).all())
            except sa.exc.DBAPIError as e:
                say(type(e).__name__, describe(e.orig))
            c.rollback()


run(globals())
