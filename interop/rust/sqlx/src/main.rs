//! Runs the checks with sqlx, queries checked at run time. Values are read as they stand on the wire.

#[path = "../../check.rs"]
mod check;

use std::future::Future;
use std::time::Duration;

use check::{Say, anonymous, endless, failing, hex, setting, table, wanted};
use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgPool, PgPoolCopyExt, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Column, Connection, Either, Error, Executor, PgConnection, Row, Statement, TypeInfo, ValueRef};

fn describe(e: &Error) -> String {
    match e {
        Error::Database(d) => {
            let d = d.downcast_ref::<PgDatabaseError>();
            anonymous(&format!(
                "PgDatabaseError {:?} {} {} detail {:?} hint {:?} table {:?} column {:?}",
                d.severity(), d.code(), d.message(), d.detail(), d.hint(), d.table(), d.column()
            ))
        }
        e => format!("Error - {e}"),
    }
}

fn outcome<T: std::fmt::Debug>(r: Result<T, Error>) -> String {
    match r {
        Ok(v) => format!("{v:?}"),
        Err(e) => describe(&e),
    }
}

fn show(row: &PgRow) -> String {
    (0..row.len())
        .map(|i| match row.try_get_raw(i) {
            Ok(v) if !v.is_null() => v.as_bytes().map_or("?".into(), hex),
            _ => "-".into(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A statement that names the schema that is tested.
fn sql(text: String) -> AssertSqlSafe<String> {
    AssertSqlSafe(text)
}

async fn open(most: u32) -> Result<PgPool, Error> {
    PgPoolOptions::new().max_connections(most).connect(&setting("SLUICE_INTEROP_URL")).await
}

/// Runs a check with a pool of its own; how it fails is printed.
async fn run<F, R>(name: &'static str, body: F)
where
    F: FnOnce(PgPool, Say) -> R,
    R: Future<Output = Result<(), Error>>,
{
    if !wanted(name) {
        return;
    }
    let result = match open(2).await {
        Ok(pool) => {
            let r = body(pool.clone(), Say(name)).await;
            pool.close().await;
            r
        }
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
    run("pipeline", several).await;
    run("copy", copy).await;
    run("cancel", cancel).await;
    run("rollback", rollback).await;
    run("errors", errors).await;
}

async fn connecting(pool: PgPool, say: Say) -> Result<(), Error> {
    let mut c = pool.acquire().await?;
    say.line(format!("{:?}", c.server_version_num()));
    c.ping().await?;
    let who: (String, String) = sqlx::query_as("SELECT current_user::text, current_setting('server_version')").fetch_one(&mut *c).await?;
    say.line(format!("{who:?}"));
    let wrong: PgConnectOptions = setting("SLUICE_INTEROP_URL").parse()?;
    say.line(format!("wrong password {}", outcome(PgConnection::connect_with(&wrong.password("wrong")).await.map(|_| ()))));
    Ok(())
}

async fn introspect(pool: PgPool, say: Say) -> Result<(), Error> {
    let mut c = pool.acquire().await?;
    for name in ["item", "series", "sink"] {
        let s = (&mut *c).prepare(sqlx::SqlStr::from_static(Box::leak(format!("SELECT * FROM {}", table(name)).into_boxed_str()))).await?;
        for column in s.columns() {
            say.line(format!("{} {} {}", column.ordinal(), column.name(), column.type_info().name()));
        }
    }
    let text = format!("SELECT id, name, price + 1, count(*) OVER () FROM {} WHERE id = $1 AND at > $2 AND tags = $3", table("item"));
    let s = (&mut *c).prepare(sqlx::SqlStr::from_static(Box::leak(text.into_boxed_str()))).await?;
    if let Some(Either::Left(parameters)) = s.parameters() {
        say.line(format!("{:?}", parameters.iter().map(|p| p.name().to_string()).collect::<Vec<_>>()));
    }
    Ok(())
}

async fn types(pool: PgPool, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for row in sqlx::query(sql(format!("SELECT * FROM {item} WHERE id > $1 ORDER BY id"))).bind(0i32).fetch_all(&pool).await? {
        say.line(show(&row));
    }
    for row in sqlx::raw_sql(sql(format!("SELECT * FROM {item} ORDER BY id"))).fetch_all(&pool).await? {
        say.line(format!("text {}", show(&row)));
    }
    type Some4 = (i32, String, Option<i16>, Option<i64>, Option<f64>, Option<f32>, Option<bool>, Option<Vec<u8>>, Option<Vec<Option<String>>>);
    let rows: Vec<Some4> = sqlx::query_as(sql(format!("SELECT id, name, qty, big, ratio, r4, ok, raw, tags FROM {item} WHERE id BETWEEN 3 AND 12 ORDER BY id"))).fetch_all(&pool).await?;
    for r in rows {
        let found: Vec<i32> = sqlx::query_scalar(sql(format!(
            "SELECT id FROM {item} WHERE name = $1 AND qty IS NOT DISTINCT FROM $2 AND big IS NOT DISTINCT FROM $3 AND ok IS NOT DISTINCT FROM $4
             AND raw IS NOT DISTINCT FROM $5 AND tags IS NOT DISTINCT FROM $6 ORDER BY id"
        )))
        .bind(&r.1).bind(r.2).bind(r.3).bind(r.6).bind(&r.7).bind(&r.8)
        .fetch_all(&pool)
        .await?;
        say.line(format!("{r:?} {found:?}"));
    }
    let written = sqlx::query(sql(format!("INSERT INTO {sink} (id, name, qty, raw) VALUES ($1, $2, $3, $4), ($5, NULL, NULL, NULL) RETURNING *")))
        .bind(7i32).bind("é \"q\" \\ \n").bind(-3i16).bind(&[0u8, 1, 255][..]).bind(8i32)
        .fetch_all(&pool)
        .await?;
    for row in &written {
        say.line(show(row));
    }
    let gone = sqlx::query(sql(format!("DELETE FROM {sink} WHERE id = ANY($1)"))).bind(vec![7i32, 8, 9]).execute(&pool).await?;
    say.line(format!("deleted {}", gone.rows_affected()));
    Ok(())
}

async fn prepared(pool: PgPool, say: Say) -> Result<(), Error> {
    let mut c = pool.acquire().await?;
    let text = format!("SELECT id, name FROM {} WHERE id BETWEEN $1 AND $2 ORDER BY id", table("item"));
    for (a, b) in [(Some(1), 3), (Some(7), 7), (Some(500), 600), (None, 1), (Some(11), 12)] {
        for row in sqlx::query(sql(text.clone())).bind(a).bind(b).fetch_all(&mut *c).await? {
            say.line(show(&row));
        }
    }
    say.line(format!("cached {}", c.cached_statements_size()));
    say.line(outcome(sqlx::query(sql(format!("SELECT 1 / (id - $1) FROM {}", table("item")))).bind(1i32).fetch_all(&mut *c).await.map(|r| r.len())));
    for row in sqlx::query(sql(text.clone())).persistent(false).bind(1i32).bind(2i32).fetch_all(&mut *c).await? {
        say.line(show(&row));
    }
    c.clear_cached_statements().await?;
    say.line(outcome(sqlx::query(sql(text)).bind(1i32).bind(2i32).fetch_all(&mut *c).await.map(|r| r.len())));
    Ok(())
}

async fn cursor(pool: PgPool, say: Say) -> Result<(), Error> {
    let series = table("series");
    let mut n = 0;
    let mut sum = 0;
    let text = format!("SELECT n FROM {series} ORDER BY n");
    {
        let mut rows = sqlx::query_scalar::<_, i64>(sql(text.clone())).fetch(&pool);
        while let Some(v) = rows.try_next().await? {
            n += 1;
            sum += v;
        }
    }
    say.line(format!("stream {n} {sum}"));
    {
        let mut rows = sqlx::query_scalar::<_, i64>(sql(text.clone())).fetch(&pool);
        let mut last = 0;
        for _ in 0..25 {
            last = rows.try_next().await?.unwrap_or_default();
        }
        say.line(format!("left early {last}"));
    }
    let one: Option<i64> = sqlx::query_scalar(sql(text)).fetch_optional(&pool).await?;
    say.line(format!("one {one:?}"));
    let mut tx = pool.begin().await?;
    sqlx::query(sql(format!("DECLARE c CURSOR FOR SELECT n FROM {series} ORDER BY n"))).execute(&mut *tx).await?;
    for how in ["FETCH 3 FROM c", "MOVE 40000 FROM c", "FETCH 2 FROM c"] {
        say.line(format!("{how} {:?}", sqlx::query_scalar::<_, i64>(how).fetch_all(&mut *tx).await?));
    }
    tx.commit().await?;
    Ok(())
}

/// Several statements in one text, of the simple protocol; sqlx has no pipeline.
async fn several(pool: PgPool, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for text in [
        format!("SELECT 1; SELECT count(*) FROM {item}; INSERT INTO {sink} (id) VALUES (1), (2); SELECT id FROM {sink} ORDER BY id; DELETE FROM {sink}"),
        format!("INSERT INTO {sink} (id) VALUES (3); SELECT 1 / (id - 1) FROM {item}; SELECT 2"),
        format!("SELECT count(*) FROM {sink}"),
    ] {
        let mut all = sqlx::raw_sql(sql(text)).fetch_many(&pool);
        loop {
            match all.try_next().await {
                Ok(Some(Either::Left(done))) => say.line(format!("done {}", done.rows_affected())),
                Ok(Some(Either::Right(row))) => say.line(show(&row)),
                Ok(None) => break,
                Err(e) => {
                    say.line(describe(&e));
                    break;
                }
            }
        }
    }
    Ok(())
}

async fn copy(pool: PgPool, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for options in ["", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT binary)"] {
        let text: &'static str = Box::leak(format!("COPY (SELECT * FROM {item} ORDER BY id) TO STDOUT {options}").into_boxed_str());
        let out: Vec<_> = pool.copy_out_raw(text).await?.try_collect().await?;
        let all = out.concat();
        let sum = all.iter().fold(0xcbf29ce484222325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100000001b3));
        say.line(format!("out {options} {} {sum:x}", all.len()));
    }
    let text: &'static str = Box::leak(format!("COPY {sink} (id, name) FROM STDIN").into_boxed_str());
    let mut into = pool.copy_in_raw(text).await?;
    for piece in 0..200 {
        let lines: String = (0..100).map(|i| format!("{}\tname {}\n", piece * 100 + i, i)).collect();
        into.send(lines.as_bytes()).await?;
    }
    say.line(format!("in {}", into.finish().await?));
    let mut bad = pool.copy_in_raw(text).await?;
    bad.send("x\ty\n".as_bytes()).await?;
    say.line(outcome(bad.finish().await));
    let mut left = pool.copy_in_raw(text).await?;
    left.send("1\tx\n".as_bytes()).await?;
    say.line(outcome(left.abort("enough").await));
    say.line(show(&sqlx::query(sql(format!("SELECT count(*), sum(id), max(name) FROM {sink}"))).fetch_one(&pool).await?));
    say.line(format!("deleted {}", sqlx::query(sql(format!("DELETE FROM {sink}"))).execute(&pool).await?.rows_affected()));
    Ok(())
}

/// sqlx has no cancel request: it cancels by the statement's timeout, or by leaving the connection.
async fn cancel(pool: PgPool, say: Say) -> Result<(), Error> {
    for text in ["SELECT pg_sleep(60)".to_string(), endless()] {
        let mut c = pool.acquire().await?;
        sqlx::query("SET statement_timeout = '500ms'").execute(&mut *c).await?;
        say.line(outcome(sqlx::query(sql(text.clone())).execute(&mut *c).await));
        sqlx::query("RESET statement_timeout").execute(&mut *c).await?;
        say.line(show(&sqlx::query(sql(format!("SELECT count(*) FROM {}", table("item")))).fetch_one(&mut *c).await?));
        let left = tokio::time::timeout(Duration::from_millis(300), sqlx::query(sql(text)).execute(&mut *c)).await;
        say.line(format!("left {}", left.is_err()));
        drop(c.detach());
    }
    Ok(())
}

async fn rollback(pool: PgPool, say: Say) -> Result<(), Error> {
    let (item, sink) = (table("item"), table("sink"));
    for commit in [false, true] {
        let mut tx = pool.begin().await?;
        let n = sqlx::query(sql(format!("INSERT INTO {sink} (id, name) SELECT id, name FROM {item} WHERE id <= $1"))).bind(10i32).execute(&mut *tx).await?;
        say.line(format!("{}", n.rows_affected()));
        sqlx::query(sql(format!("UPDATE {sink} SET price = id * 1.5 WHERE id > 5"))).execute(&mut *tx).await?;
        say.line(show(&sqlx::query(sql(format!("SELECT count(*), sum(price) FROM {sink}"))).fetch_one(&mut *tx).await?));
        if commit {
            tx.commit().await?;
        } else {
            drop(tx); // rolls back
        }
        say.line(show(&sqlx::query(sql(format!("SELECT count(*), sum(price) FROM {sink}"))).fetch_one(&pool).await?));
    }
    let mut tx = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
    {
        let mut inner = tx.begin().await?;
        say.line(outcome(sqlx::query(sql(format!("SELECT 1 / (id - 1) FROM {item}"))).execute(&mut *inner).await));
        say.line(outcome(sqlx::query(sql(format!("SELECT count(*) FROM {item}"))).execute(&mut *inner).await));
        inner.rollback().await?;
    }
    say.line(format!("deleted {}", sqlx::query(sql(format!("DELETE FROM {sink}"))).execute(&mut *tx).await?.rows_affected()));
    tx.commit().await
}

async fn errors(pool: PgPool, say: Say) -> Result<(), Error> {
    for text in failing() {
        say.line(outcome(sqlx::query(sql(text.clone())).execute(&pool).await.map(|_| ())));
        say.line(outcome(sqlx::raw_sql(sql(text)).execute(&pool).await.map(|_| ())));
    }
    say.line(outcome(sqlx::query(sql(format!("SELECT id FROM {} WHERE id < 0", table("item")))).fetch_one(&pool).await.map(|_| ())));
    Ok(())
}
