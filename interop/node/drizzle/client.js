// Drizzle: the schema that drizzle-kit pulls, and its query builder on node-postgres.
'use strict'
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Pool } = require('pg')
const { drizzle } = require('drizzle-orm/node-postgres')
const { sql, eq, gt, lte, and, inArray, asc, desc, count, sum, avg, like, between, isNull } = require('drizzle-orm')
const { pgSchema, integer, text, numeric, smallint, bigint, doublePrecision, real, boolean, date, timestamp, uuid, jsonb, interval, time, varchar } = require('drizzle-orm/pg-core')
const { main, url, schema, scratch, failing } = require('../check')

const tables = pgSchema(schema)
const item = tables.table('item', {
  id: integer().primaryKey(), name: text().notNull(), price: numeric({ precision: 10, scale: 2 }), qty: smallint(), big: bigint({ mode: 'bigint' }),
  ratio: doublePrecision(), r4: real(), ok: boolean(), day: date(), at: timestamp({ mode: 'string' }), atz: timestamp({ withTimezone: true }),
  uid: uuid(), doc: jsonb(), tags: text().array(), span: interval(), t: time(), note: varchar({ length: 40 }),
})
const series = tables.table('series', { n: bigint({ mode: 'number' }), label: text() })
const sink = tables.table('sink', { id: integer().notNull(), name: text(), price: numeric(), qty: smallint(), at: timestamp() })

const check = (use) => async (say) => {
  const pool = new Pool({ connectionString: url, max: 2 })
  try {
    return await use(drizzle(pool), say)
  } finally {
    await pool.end()
  }
}

async function connect(db, say) {
  say((await db.execute(sql`SELECT current_user, session_user, current_setting(${'server_version'}) AS version`)).rows)
}

// pull runs drizzle-kit and prints the schema that it writes.
async function pull(db, say) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'drizzle-'))
  const modules = process.env.NODE_PATH
  try {
    fs.symlinkSync(modules, path.join(dir, 'node_modules'))
    const config = { dialect: 'postgresql', out: 'out', schemaFilter: [schema], dbCredentials: { url } }
    fs.writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config))
    execFileSync(process.execPath, [path.join(modules, 'drizzle-kit', 'bin.cjs'), 'pull', '--config=config.json'], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } })
    for (const file of ['schema.ts', 'relations.ts']) {
      // The order of the tables is none, nor is that of what they have imported.
      const text = fs.readFileSync(path.join(dir, 'out', file), 'utf8').replace(/^import \{ (.*) \}/gm, (_, names) => `import { ${names.split(', ').sort().join(', ')} }`)
      for (const line of text.split('\n').sort()) say(file, line.replace(new RegExp(schema, 'gi'), 'schema'))
    }
  } finally {
    fs.rmSync(dir, { recursive: true })
  }
}

async function types(db, say) {
  const rows = await db.select().from(item).orderBy(asc(item.id))
  for (const row of rows) say(row)
  for (const row of rows.filter((r) => [2, 3, 77, 199].includes(r.id))) {
    for (const key of Object.keys(row).filter((k) => row[k] !== null)) {
      say('parameter', row.id, key, (await db.select({ id: item.id }).from(item).where(eq(item[key], row[key])).orderBy(item.id)).map((r) => r.id))
    }
  }
  say(await db.insert(sink).values([{ id: 7, name: 'é "q" \\ \n', price: '12.50', qty: -3, at: new Date(Date.UTC(2024, 1, 29, 12)) }, { id: 8 }]).returning())
  say(await db.update(sink).set({ name: 'changed', qty: sql`${sink.id} + 1` }).where(eq(sink.id, 8)).returning({ id: sink.id, qty: sink.qty }))
  say(await db.delete(sink).where(gt(sink.id, 0)).returning({ id: sink.id }).then((r) => r.map((x) => x.id).sort()))
  say(await db.$count(item, gt(item.id, 150)))
  say('join', await db.select({ ok: item.ok, c: count(), s: sum(series.n), a: avg(item.price) }).from(item).innerJoin(series, eq(series.n, item.id))
    .where(and(between(item.id, 10, 90), isNull(item.note))).groupBy(item.ok).orderBy(asc(item.ok)))
  const few = db.$with('few').as(db.select({ id: item.id, name: item.name }).from(item).where(lte(item.id, 20)))
  say('with', await db.with(few).select().from(few).where(like(few.name, 'item%')).orderBy(desc(few.id)).limit(3).offset(1))
  say('in', await db.selectDistinct({ qty: item.qty }).from(item).where(inArray(item.id, db.select({ id: series.n }).from(series).where(lte(series.n, 12)))).orderBy(item.qty))
}

async function prepared(db, say) {
  const byID = db.select({ id: item.id, name: item.name }).from(item).where(eq(item.id, sql.placeholder('id'))).prepare('by_id')
  for (const id of [1, 7, 500, '11']) say(await byID.execute({ id }))
  await failing(say, 'bad value', () => byID.execute({ id: 'x' }))
  say('after an error', await byID.execute({ id: 2 }))
}

async function pipelined(db, say) {
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => db.select({ id: item.id }).from(item).where(eq(item.id, i + 1))))
  say(all.flat().map((r) => r.id))
  await db.insert(sink).values(Array.from({ length: 1000 }, (_, i) => ({ id: i, name: 'n' + i })))
  say(await db.$count(sink), (await db.delete(sink)).rowCount)
}

async function rollback(db, say) {
  await failing(say, 'undone', () => db.transaction(async (tx) => {
    await tx.insert(sink).values([{ id: 1 }, { id: 2 }])
    say('within', await tx.$count(sink))
    tx.rollback()
  }))
  say('rolled back', await db.$count(sink))
  await db.transaction(async (tx) => {
    await tx.insert(sink).values([{ id: 1 }, { id: 2 }])
    await tx.update(sink).set({ price: '1.5' }).where(eq(sink.id, 2))
  }, { isolationLevel: 'repeatable read', accessMode: 'read write' })
  say('committed', await db.select().from(sink).orderBy(sink.id))
  await db.transaction(async (tx) => {
    await failing(say, 'inner', () => tx.transaction((inner) => inner.select({ x: sql`1 / (${item.id} - 1)` }).from(item)))
    say('savepoint', await tx.$count(item))
  })
  say((await db.delete(sink)).rowCount)
}

async function errors(db, say) {
  await failing(say, 'syntax', () => db.execute(sql`SELEC 1`))
  await failing(say, 'table', () => db.execute(sql.raw(`SELECT * FROM ${scratch}.missing`)).catch((e) => { e.cause.message = e.cause.message.replaceAll(scratch, 'scratch'); throw e }))
  await failing(say, 'division', () => db.select({ x: sql`id / 0` }).from(item))
  await failing(say, 'not null', () => db.insert(sink).values({ id: null }))
  await failing(say, 'range', () => db.insert(sink).values({ id: 1, qty: 40000 }))
  await failing(say, 'type', () => db.select().from(item).where(eq(item.uid, 'x')))
  say('goes on', await db.$count(item))
}

main({
  connect: check(connect),
  introspect: check(pull),
  types: check(types),
  prepared: check(prepared),
  cursor: 'Drizzle has none',
  pipeline: check(pipelined),
  copy: 'Drizzle has none',
  cancel: 'Drizzle has none',
  rollback: check(rollback),
  errors: check(errors),
})
