package wirefuzz

// statement is a text to run with the kinds of its parameters.
type statement struct {
	sql    string
	params string // a letter each: i int, t text, n numeric
	copies bool   // reads COPY data
}

// Tables are the relations that sequences are about: plain at one site, foreign at the other.
const Tables = `
f (k int, t text, n numeric(8,2), d date, z timestamptz, x float8, y bytea)
(1, 'one', 1.50, '2024-02-29', '2024-02-29 12:34:56.789+00', 0.1, '\x00ff')
(2, 'two', null, '1999-12-31', null, 1e20, '\x')
(3, null, -0.01, null, '1970-01-01 00:00:00+00', null, null)
(4, 'Čtyři', 100.00, '2000-01-01', '2024-03-10 07:30:00+00', -2.5, '\xdeadbeef')
(5, '', 0.00, '2024-11-03', '2024-11-03 05:30:00+00', 123456789.125, '\x61')
(6, 'six', 6.00, '1582-10-15', '1800-01-01 00:00:00+00', 0, '\x5c')
w (k int, t text)
(1, 'a')
(2, 'b')
(3, 'c')
`

// Setup makes what is plain at both sites.
var Setup = []string{
	"CREATE TABLE h (k int PRIMARY KEY, v text)",
	"INSERT INTO h VALUES (1, 'eins'), (2, 'zwei'), (3, 'drei'), (7, 'sieben')",
	"CREATE VIEW fv AS SELECT k, upper(t) AS u FROM f",
}

// Reset brings back what sequences without DDL may have changed.
var Reset = []string{
	"TRUNCATE w", "INSERT INTO w VALUES (1, 'a'), (2, 'b'), (3, 'c')",
	"TRUNCATE h", "INSERT INTO h VALUES (1, 'eins'), (2, 'zwei'), (3, 'drei'), (7, 'sieben')",
}

var foreignReads = []statement{
	{sql: "select k, t from f order by k"},
	{sql: "select * from f order by k"},
	{sql: "select k, n, d from f where k > $1 order by k", params: "i"},
	{sql: "select count(*), sum(k) from f"},
	{sql: "select k from f where t = $1 order by k", params: "t"},
	{sql: "select $1::int + k as s, $2::text as p from f order by k", params: "it"},
	{sql: "select f.k, h.v from f join h on h.k = f.k order by 1"},
	{sql: "select x, z, y from f order by k"},
	{sql: "select d, z from f where n = $1 order by k", params: "n"},
	{sql: "select k, 10 / (k - 3) as q from f order by k"},
	{sql: "select 1 / (k - k) from f"},
	{sql: "select k from f where k < 0"},
	{sql: "select nocol from f"},
	{sql: "select k from f where k = 'x'"},
	{sql: "select from f where k < 3"},
	{sql: "select t from f where k = $1 limit 1", params: "i"},
	{sql: "select max(k), $1::text from f group by 2", params: "t"},
	{sql: "select g, f.t from generate_series(1, 1100) g left join f on f.k = g order by g"},
	{sql: "with c as (select k from f where k > 4) select k from c order by k desc"},
	{sql: "select w.k, w.t from w order by w.k"},
	{sql: "select k from f for update"},
}

var views = []statement{{sql: "select u from fv order by k"}, {sql: "select count(u) from fv where k > $1", params: "i"}}

var homeReads = []statement{
	{sql: "select 1 as one"},
	{sql: "select k, v from h order by k"},
	{sql: "select v from h where k = $1", params: "i"},
	{sql: "select g from generate_series(1, 1002) g"},
	{sql: "select 1/0"},
	{sql: "selec 1"},
	{sql: "select nope from h"},
	{sql: "/* nothing */"},
	{sql: "do $$ begin raise notice 'hello'; end $$"},
	{sql: "select current_setting('transaction_isolation')"},
	{sql: "show transaction_read_only"},
	{sql: "values ($1::text), ('b')", params: "t"},
}

var homeWrites = []statement{
	{sql: "insert into h values ($1 + 20, $2)", params: "it"},
	{sql: "insert into h values (30, 'x') returning k"},
	{sql: "insert into h values (1, 'again')"},
	{sql: "update h set v = $1 where k = 1", params: "t"},
	{sql: "delete from h where k > 2 returning k, v"},
	{sql: "insert into h select k + 50, t from f where k < $1", params: "i"},
	{sql: "create temp table tt (i int)"},
	{sql: "insert into tt values (1), (2)"},
	{sql: "select i from tt order by i"},
	{sql: "create temp table tf as select k, t from f"},
	{sql: "copy h from stdin", copies: true},
	{sql: "copy h (k, v) from stdin (format csv)", copies: true},
}

// foreignWrites return one row at most: no order is promised, and Postgres moves the rows that it updates.
var foreignWrites = []statement{
	{sql: "insert into w values ($1, $2)", params: "it"},
	{sql: "insert into w values (40, 'x'), (41, 'y') returning k, t"},
	{sql: "insert into w select k + 50, t from f where k < 3"},
	{sql: "update w set t = $1 where k = $2", params: "ti"},
	{sql: "update w set t = 'u' where k = 3 returning *"},
	{sql: "delete from w where k = $1", params: "i"},
	{sql: "delete from w where k = 2 returning k"},
	{sql: "insert into w values ('x', 'y')"},
	{sql: "insert into w (nope) values (1)"},
	{sql: "copy w from stdin", copies: true},
	{sql: "copy w (k, t) from stdin (format csv, header)", copies: true},
	{sql: "select k, t from w order by k"},
	{sql: "select count(*) from w"},
	{sql: "truncate w"},
}

var transactions = []statement{
	{sql: "begin"}, {sql: "begin"}, {sql: "begin"}, {sql: "begin isolation level repeatable read"},
	{sql: "commit"}, {sql: "commit"}, {sql: "end"}, {sql: "rollback"}, {sql: "rollback"}, {sql: "commit and chain"}, {sql: "rollback and chain"},
}

var savepoints = []statement{
	{sql: "savepoint a"}, {sql: "savepoint b"}, {sql: "rollback to a"}, {sql: "rollback to savepoint b"}, {sql: "release a"},
}

// points are savepoints that are not rolled back to.
var points = []statement{{sql: "savepoint a"}, {sql: "savepoint b"}, {sql: "release a"}, {sql: "release savepoint nope"}}

// roles are those that every cluster has: one may read all tables, the other none.
var roles = []statement{
	{sql: "set role pg_read_all_data"}, {sql: "set role pg_read_all_data"}, {sql: "set local role pg_read_all_data"}, {sql: "set role pg_monitor"},
	{sql: "set session authorization pg_read_all_data"}, {sql: "set local session authorization pg_monitor"}, {sql: "set role nope"},
	{sql: "reset role"}, {sql: "set role none"}, {sql: "reset session authorization"}, {sql: "set session authorization default"},
	{sql: "select current_user, session_user"}, {sql: "show role"}, {sql: "select set_config('role', 'pg_read_all_data', true)"},
}

var modes = []statement{
	{sql: "begin read only"}, {sql: "start transaction read only"}, {sql: "begin isolation level serializable, read only, deferrable"},
	{sql: "begin read write"}, {sql: "set transaction read only"}, {sql: "set transaction read write"},
	{sql: "set transaction isolation level repeatable read"}, {sql: "set transaction isolation level read committed, read only"},
	{sql: "set session characteristics as transaction read only"}, {sql: "set session characteristics as transaction read write"},
	{sql: "set default_transaction_read_only = on"}, {sql: "reset default_transaction_read_only"}, {sql: "set local transaction_read_only = on"},
	{sql: "show transaction_read_only"}, {sql: "show transaction_isolation"},
}

// cursors share the name c with portals.
var cursors = []statement{
	{sql: "declare c cursor for select k, t from f order by k"},
	{sql: "declare c cursor for select k, t from f order by k"},
	{sql: "declare c scroll cursor for select k, t from f order by k"},
	{sql: "declare c no scroll cursor for select k from f order by k"},
	{sql: "declare c binary cursor for select k, d from f order by k"},
	{sql: "declare d cursor with hold for select k, t from f order by k"},
	{sql: "declare c cursor for select v from h order by k"},
	{sql: "declare c cursor for select k, u from fv order by k"},
	{sql: "declare c cursor for select 10 / (k - 3) from f order by k"},
	{sql: "fetch c"}, {sql: "fetch 2 from c"}, {sql: "fetch all from c"}, {sql: "fetch backward 1 from c"}, {sql: "fetch prior from c"},
	{sql: "fetch 2 from d"}, {sql: "fetch all d"}, {sql: "move 2 in c"}, {sql: "move all in c"}, {sql: "fetch 0 from c"},
	{sql: "fetch absolute 2 from c"}, {sql: "fetch relative 1 from c"}, {sql: "fetch forward 0 from c"}, {sql: "fetch 2 from a"},
	{sql: "fetch all from a"}, {sql: "move 1 from a"}, {sql: "close a"}, {sql: "close c"}, {sql: "close d"}, {sql: "close all"},
	{sql: "fetch first from c"}, {sql: "fetch last from c"},
	{sql: "select name, is_holdable, is_binary, is_scrollable from pg_cursors where name <> '' order by name"},
}

// preparations share the names s1 and p1 with the protocol's statements.
var preparations = []statement{
	{sql: "prepare p1 as select k, t from f where k > $1 order by k"},
	{sql: "prepare p1 (int) as select v from h where k = $1"},
	{sql: "prepare s1 as select t from f order by k"},
	{sql: "prepare p2 as select count(*) from f"},
	{sql: "execute p1(4)"}, {sql: "execute p1(2)"}, {sql: "execute p1"}, {sql: "execute s1"}, {sql: "execute p2"}, {sql: "execute nope"},
	{sql: "deallocate p1"}, {sql: "deallocate s1"}, {sql: "deallocate all"}, {sql: "discard plans"},
	{sql: "discard all"}, {sql: "discard temp"},
	{sql: "select name, from_sql from pg_prepared_statements where name not like 'sluice%' order by name"},
}

var settings = []statement{
	{sql: "set datestyle = 'German'"}, {sql: "set datestyle = 'SQL, DMY'"}, {sql: "set timezone = 'America/New_York'"},
	{sql: "set local timezone = 'Asia/Tokyo'"}, {sql: "set local datestyle = 'Postgres'"}, {sql: "set extra_float_digits = -5"},
	{sql: "set extra_float_digits = 0"}, {sql: "set bytea_output = 'escape'"}, {sql: "set local bytea_output = 'escape'"},
	{sql: "set client_encoding = 'LATIN1'"}, {sql: "set client_encoding = 'LATIN2'"}, {sql: "set local client_encoding = 'SQL_ASCII'"},
	{sql: "set intervalstyle = 'iso_8601'"}, {sql: "reset datestyle"}, {sql: "reset timezone"}, {sql: "reset all"},
	{sql: "show datestyle"}, {sql: "show timezone"}, {sql: "show client_encoding"}, {sql: "set search_path = pg_catalog"},
	{sql: "set search_path = public"}, {sql: "reset search_path"}, {sql: "select set_config('timezone', 'UTC', true)"},
	{sql: "set session authorization postgres"}, {sql: "set role none"}, {sql: "reset role"}, {sql: "set nope.x = '1'"}, {sql: "set nope = 1"},
}

var copies = []statement{
	{sql: "copy f to stdout"},
	{sql: "copy f (k, t) to stdout (format csv, header)"},
	{sql: "copy (select k, t from f order by k) to stdout (format csv, force_quote (t))"},
	{sql: "copy (select k, d from f order by k) to stdout (format binary)"},
	{sql: "copy (select v from h order by k) to stdout"},
	{sql: "copy (select k, 10 / (k - 3) from f order by k) to stdout"},
	{sql: "copy (select nope from f) to stdout"},
}

var definitions = []statement{
	{sql: "alter table f drop column n"},
	{sql: "alter table f alter column x type real"},
	{sql: "alter table f drop column z"},
	{sql: "create or replace view fv as select k, lower(t) as u from f"},
	{sql: "drop view fv"},
	{sql: "create view g as select k from f"},
	{sql: "select k from g order by k"},
	{sql: "alter table h add column extra int default 7"},
	{sql: "select * from h order by k"},
	{sql: "create schema s"},
	{sql: "alter table f set schema s"},
	{sql: "select k from s.f order by k"},
}
