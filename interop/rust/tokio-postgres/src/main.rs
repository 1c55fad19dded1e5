//! Runs the checks with tokio-postgres. Values are read and written as they stand on the wire, in binary.

#[path = "../../check.rs"]
mod check;

use std::error::Error as StdError;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use check::{Say, anonymous, endless, failing, hex, setting, table, wanted};
use futures_util::{SinkExt, TryStreamExt, future::join_all};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, Error, IsolationLevel, Row, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The columns of item.
const COLUMNS: [&str; 18] = [
    "id", "name", "price", "qty", "big", "ratio", "r4", "ok", "day", "at", "atz", "uid", "doc", "tags", "raw", "span", "t", "note",
];

/// A value of any type, as it stands on the wire.
#[derive(Debug, Clone)]
struct Raw(Vec<u8>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Raw, Box<dyn StdError + Sync + Send>> {
        Ok(Raw(raw.to_vec()))
    }
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Raw {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

fn describe(e: &Error) -> String {
    match e.as_db_error() {
        Some(d) => anonymous(&format!(
            "DbError {} {} {} detail {:?} hint {:?} table {:?} column {:?}",
            d.severity(), d.code().code(), d.message(), d.detail(), d.hint(), d.table(), d.column()
        )),
        None => format!("Error - {e}"),
    }
}

fn outcome<T: std::fmt::Debug>(r: Result<T, Error>) -> String {
    match r {
        Ok(v) => format!("{v:?}"),
        Err(e) => describe(&e),
    }
}

fn show(row: &Row) -> String {
    (0..row.len())
        .map(|i| row.get::<_, Option<Raw>>(i).map_or("-".into(), |v| hex(&v.0)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Where and how to connect, as the environment says.
fn config() -> Result<Config, Error> {
    let mut config: Config = setting("SLUICE_INTEROP_URL").parse()?;
    if setting("PGSSLMODE") == "disable" {
        config.ssl_mode(SslMode::Disable);
    } else {
        config.ssl_mode(SslMode::Require);
    }
    Ok(config)
}

/// TLS that trusts the environment's authority and no other.
fn tls() -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    let file = setting("PGSSLROOTCERT");
    if !file.is_empty() {
        roots.add(CertificateDer::from_pem_file(file).expect("a PEM file")).expect("a certificate of an authority");
    }
    MakeRustlsConnect::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

async fn connect() -> Result<Client, Error> {
    let (client, connection) = config()?.connect(tls()).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Runs a check on a connection of its own; how it fails is printed.
async fn run<F, R>(name: &'static str, body: F)
where
    F: FnOnce(Client, Say) -> R,
    R: Future<Output = Result<(), Error>>,
{
    if !wanted(name) {
        return;
    }
    let result = match connect().await {
        Ok(client) => body(client, Say(name)).await,
        Err(e) => Err(e),
    };
    if let Err(e) = result {
        Say(name).line(format!("FAIL {}", describe(&e)));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run("connect", connecting).await;
    run("introspect", introspect).await;
    run("types", types).await;
    run("prepared", prepared).await;
    run("cursor", cursor).await;
    run("pipeline", pipeline).await;
    run("copy", copy).await;
    run("cancel", cancel).await;
    run("rollback", rollback).await;
    run("errors", errors).await;
}

async fn connecting(client: Client, say: Say) -> Result<(), Error> {
    let row = client.query_one("SELECT current_user::text, current_setting('server_version')", &[]).await?;
    say.line(format!("{} {} closed {}", row.get::<_, String>(0), row.get::<_, String>(1), client.is_closed()));
    let mut wrong = config()?;
    wrong.password("wrong");
    say.line(format!("wrong password {}", outcome(wrong.connect(tls()).await.map(|_| ()))));
    Ok(())
}

async fn introspect(client: Client, say: Say) -> Result<(), Error> {
    for name in ["item", "series", "sink"] {
        let s = client.prepare(&format!("SELECT * FROM {}", table(name))).await?;
        for c in s.columns() {
            say.line(format!("{} {} {} {:?} {}", c.name(), c.type_().oid(), c.type_(), c.column_id(), c.table_oid().is_some()));
        }
    }
    let s = client.prepare(&format!("SELECT 1 FROM {} WHERE id = $1 AND at > $2 AND tags = $3 AND doc = $4", table("item"))).await?;
    say.line(format!("{:?}", s.params()));
    for row in client
        .query(
            "SELECT table_name::text, column_name::text, udt_name::text, is_nullable::text FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, ordinal_position",
            &[&setting("SLUICE_INTEROP_SCHEMA")],
        )
        .await?
    {
        say.line(format!("{:?} {:?} {:?} {:?}", row.get::<_, &str>(0), row.get::<_, &str>(1), row.get::<_, &str>(2), row.get::<_, &str>(3)));
    }
    Ok(())
}

async fn types(client: Client, say: Say) -> Result<(), Error> {
    let item = table("item");
    let rows = client.query(&format!("SELECT * FROM {item} ORDER BY id"), &[]).await?;
    for row in &rows {
        say.line(show(row));
    }
    for row in rows.iter().filter(|r| [1, 2, 3, 77, 199].contains(&r.get::<_, i32>(0))) {
        for (i, column) in COLUMNS.iter().enumerate() {
            let value: Option<Raw> = row.get(i);
            let found = client.query(&format!("SELECT id FROM {item} WHERE {column} = $1 ORDER BY id"), &[&value]).await?;
            say.line(format!("{column} {:?}", found.iter().map(|r| r.get(0)).collect::<Vec<i32>>()));
        }
    }
    let row = client.query_one(&format!("SELECT name, big, ratio, ok, tags, raw, r4, qty FROM {item} WHERE id = 9"), &[]).await?;
    say.line(format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        row.get::<_, &str>(0), row.get::<_, Option<i64>>(1), row.get::<_, Option<f64>>(2), row.get::<_, Option<bool>>(3),
        row.get::<_, Option<Vec<Option<String>>>>(4), row.get::<_, Option<&[u8]>>(5), row.get::<_, Option<f32>>(6), row.get::<_, Option<i16>>(7)
    ));
    let sink = table("sink");
    let written = client
        .query(
            &format!("INSERT INTO {sink} (id, name, qty, raw) VALUES ($1, $2, $3, $4), ($5, NULL, NULL, NULL) RETURNING *"),
            &[&7i32, &"é \"q\" \\ \n", &-3i16, &&[0u8, 1, 255][..], &8i32],
        )
        .await?;
    for row in &written {
        say.line(show(row));
    }
    say.line(format!("deleted {}", client.execute(&format!("DELETE FROM {sink} WHERE id = ANY($1)"), &[&vec![7i32, 8, 9]]).await?));
    Ok(())
}

async fn prepared(client: Client, say: Say) -> Result<(), Error> {
    let s = client
        .prepare_typed(&format!("SELECT id, name, price FROM {} WHERE id BETWEEN $1 AND $2 ORDER BY id", table("item")), &[Type::INT4, Type::INT4])
        .await?;
    for (a, b) in [(Some(1), 3), (Some(7), 7), (Some(500), 600), (None, 1), (Some(11), 12)] {
        for row in client.query(&s, &[&a, &b]).await? {
            say.line(show(&row));
        }
    }
    say.line(outcome(client.query(&format!("SELECT 1 / (id - $1) FROM {}", table("item")), &[&1i32]).await.map(|r| r.len())));
    say.line(outcome(client.query(&s, &[&2, &2]).await.map(|r| r.len())));
    client.batch_execute("DEALLOCATE ALL").await?;
    say.line(outcome(client.query(&s, &[&2, &2]).await.map(|r| r.len())));
    say.line(outcome(client.query_typed(&format!("SELECT id FROM {} WHERE id < $1", table("item")), &[(&4i32, Type::INT4)]).await.map(|r| r.len())));
    Ok(())
}

async fn cursor(mut client: Client, say: Say) -> Result<(), Error> {
    let series = table("series");
    for size in [1, 7, 999, 1000, 1001, 50000] {
        let tx = client.transaction().await?;
        let limit = if size < 10 { 100i64 } else { 50000 };
        let portal = tx.bind(&format!("SELECT n, label FROM {series} WHERE n <= $1 ORDER BY n"), &[&limit]).await?;
        let (mut pieces, mut n, mut sum) = (0, 0, 0i64);
        loop {
            let rows = tx.query_portal(&portal, size).await?;
            if rows.is_empty() {
                break;
            }
            pieces += 1;
            n += rows.len();
            sum += rows.iter().map(|r| r.get::<_, i64>(0)).sum::<i64>();
        }
        say.line(format!("{size}: {pieces} {n} {sum}"));
        tx.commit().await?;
    }
    let tx = client.transaction().await?;
    let first = tx.bind(&format!("SELECT n FROM {series} ORDER BY n"), &[]).await?;
    let second = tx.bind(&format!("SELECT n FROM {series} ORDER BY n DESC"), &[]).await?;
    for _ in 0..3 {
        for portal in [&first, &second] {
            let rows = tx.query_portal(portal, 2).await?;
            say.line(format!("{:?}", rows.iter().map(|r| r.get(0)).collect::<Vec<i64>>()));
        }
    }
    tx.commit().await?;
    let mut stream = pin!(client.query_raw(&format!("SELECT n FROM {series} ORDER BY n"), Vec::<i32>::new()).await?);
    let mut n = 0;
    while let Some(row) = stream.try_next().await? {
        n += 1;
        if n == 25 {
            say.line(format!("left early {}", row.get::<_, i64>(0)));
            break;
        }
    }
    Ok(())
}

async fn pipeline(client: Client, say: Say) -> Result<(), Error> {
    let item = table("item");
    let one = format!("SELECT id, name FROM {item} WHERE id = $1");
    let bad = format!("SELECT 1 / (id - $1) FROM {item} WHERE id = 5");
    let results = join_all([(&one, 5), (&one, 6), (&bad, 5), (&one, 7), (&bad, 4)].map(|(text, id)| {
        let client = &client;
        async move { client.query(text, &[&id as &(dyn ToSql + Sync)]).await.map(|rows| rows.iter().map(show).collect::<Vec<_>>()) }
    }))
    .await;
    for r in results {
        say.line(outcome(r));
    }
    let s = client.prepare(&one).await?;
    let many = join_all((1..=200).map(|i: i32| {
        let (client, s) = (&client, &s);
        async move { client.query(s, &[&i]).await.map(|rows| rows.len()) }
    }))
    .await;
    say.line(format!("{}", many.into_iter().filter(|r| matches!(r, Ok(1))).count()));
    let sink = table("sink");
    for text in [
        format!("SELECT 1; SELECT count(*) FROM {item}; INSERT INTO {sink} (id) VALUES (1), (2); SELECT id FROM {sink} ORDER BY id; DELETE FROM {sink}"),
        format!("INSERT INTO {sink} (id) VALUES (3); SELECT 1 / 0; SELECT 2"),
        format!("SELECT count(*) FROM {sink}"),
    ] {
        match client.simple_query(&text).await {
            Ok(messages) => messages.iter().for_each(|m| match m {
                SimpleQueryMessage::Row(r) => say.line(format!("simple {:?}", (0..r.len()).map(|i| r.get(i)).collect::<Vec<_>>())),
                SimpleQueryMessage::CommandComplete(n) => say.line(format!("simple {n}")),
                _ => {}
            }),
            Err(e) => say.line(describe(&e)),
        }
    }
    Ok(())
}

async fn copy(client: Client, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for options in ["", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT binary)"] {
        let out: Vec<Bytes> = client.copy_out(&format!("COPY (SELECT * FROM {item} ORDER BY id) TO STDOUT {options}")).await?.try_collect().await?;
        let all = out.concat();
        let sum = all.iter().fold(0xcbf29ce484222325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100000001b3));
        say.line(format!("out {options} {} {sum:x}", all.len()));
    }
    let mut into = pin!(client.copy_in(&format!("COPY {sink} (id, name) FROM STDIN")).await?);
    for piece in 0..200 {
        let lines: String = (0..100).map(|i| format!("{}\tname {}\n", piece * 100 + i, i)).collect();
        into.send(Bytes::from(lines)).await?;
    }
    say.line(format!("in {}", into.finish().await?));
    {
        let mut bad = pin!(client.copy_in(&format!("COPY {sink} (id, name) FROM STDIN WITH (FORMAT csv)")).await?);
        bad.send(Bytes::from("x,y\n")).await?;
        say.line(outcome(bad.finish().await));
    }
    {
        let mut left = Box::pin(client.copy_in(&format!("COPY {sink} (id) FROM STDIN")).await?);
        left.send(Bytes::from("1\n")).await?;
    }
    let row = client.query_one(&format!("SELECT count(*), sum(id), max(name) FROM {sink}"), &[]).await?;
    say.line(show(&row));
    say.line(format!("deleted {}", client.execute(&format!("DELETE FROM {sink}"), &[]).await?));
    Ok(())
}

async fn cancel(client: Client, say: Say) -> Result<(), Error> {
    for text in ["SELECT pg_sleep(60)".to_string(), endless()] {
        let token = client.cancel_token();
        let mut running = pin!(client.execute(&text, &[]));
        let result = loop {
            tokio::select! {
                r = &mut running => break r,
                // A cancel that comes before the statement hits nothing: repeat it.
                _ = tokio::time::sleep(Duration::from_millis(300)) => token.cancel_query(tls()).await?,
            }
        };
        say.line(outcome(result));
        say.line(format!("goes on {}", client.query_one(&format!("SELECT count(*) FROM {}", table("item")), &[]).await?.get::<_, i64>(0)));
    }
    Ok(())
}

async fn rollback(mut client: Client, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for commit in [false, true] {
        let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await?;
        say.line(format!("{}", tx.execute(&format!("INSERT INTO {sink} (id, name) SELECT id, name FROM {item} WHERE id <= $1"), &[&10i32]).await?));
        say.line(format!("{}", tx.execute(&format!("UPDATE {sink} SET price = id * 1.5 WHERE id > 5"), &[]).await?));
        say.line(show(&tx.query_one(&format!("SELECT count(*), sum(price) FROM {sink}"), &[]).await?));
        if commit {
            tx.commit().await?;
        } else {
            tx.rollback().await?;
        }
        say.line(show(&client.query_one(&format!("SELECT count(*), sum(price) FROM {sink}"), &[]).await?));
    }
    let mut tx = client.transaction().await?;
    {
        let inner = tx.savepoint("here").await?;
        say.line(outcome(inner.execute(&format!("SELECT 1 / (id - 1) FROM {item}"), &[]).await));
        say.line(outcome(inner.execute(&format!("SELECT count(*) FROM {item}"), &[]).await));
    }
    say.line(format!("deleted {}", tx.execute(&format!("DELETE FROM {sink}"), &[]).await?));
    tx.commit().await?;
    say.line(show(&client.query_one(&format!("SELECT count(*) FROM {sink}"), &[]).await?));
    Ok(())
}

async fn errors(client: Client, say: Say) -> Result<(), Error> {
    for text in failing() {
        say.line(outcome(client.execute(&text, &[]).await));
        say.line(outcome(client.batch_execute(&text).await));
    }
    say.line(outcome(client.query_one(&format!("SELECT id FROM {}", table("item")), &[]).await.map(|_| ())));
    say.line(outcome(client.query_opt(&format!("SELECT id FROM {} WHERE id < 0", table("item")), &[]).await.map(|r| r.is_none())));
    Ok(())
}
