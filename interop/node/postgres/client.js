// postgres.js, which pipelines and prepares by itself, on one connection.
'use strict'
const crypto = require('node:crypto')
const { pipeline } = require('node:stream/promises')
const { Readable, Writable } = require('node:stream')
const postgres = require('postgres')
const { main, url, schema, scratch, columns, endless, failing, until, show } = require('../check')

const open = (options) => postgres(url, { max: 1, onnotice: () => {}, ...options })

const check = (use) => async (say) => {
  const sql = open()
  try {
    return await use(sql, say, { item: sql(`${schema}.item`), series: sql(`${schema}.series`), sink: sql(`${schema}.sink`) })
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function connect(sql, say) {
  say((await sql`SELECT current_user, session_user, current_setting('server_version') AS version`)[0])
  say(sql.parameters)
  const wrong = open({ password: 'wrong' })
  await failing(say, 'wrong password', () => wrong`SELECT 1`)
  await wrong.end()
  const { count, state, statement } = await sql`SELECT 1 AS one WHERE ${true}`
  say(count, statement.string, statement.types, Boolean(state))
}

async function introspect(sql, say, { item, series, sink }) {
  for (const table of [item, series, sink]) {
    const d = await sql`SELECT * FROM ${table}`.describe()
    for (const c of d.columns) say(c.name, c.type, c.number, c.table > 0)
  }
  const d = await sql`SELECT id FROM ${item} WHERE at > ${'2020-01-01'} AND price < ${1} AND tags @> ${['a']} AND uid = ${'x'}`.describe()
  say('parameters', d.types)
}

async function types(sql, say, { item, sink }) {
  const rows = await sql`SELECT * FROM ${item} ORDER BY id`
  for (const row of rows) say(row)
  for (const row of await sql`SELECT * FROM ${item} ORDER BY id`.raw()) say('raw', row)
  const text = await sql.unsafe(`SELECT ${columns.map((c) => `${c}::text AS ${c}`).join()} FROM ${schema}.item WHERE id IN (2, 3, 77, 199) ORDER BY id`)
  for (const row of text) {
    for (const c of columns.filter((c) => row[c] !== null)) {
      const found = await sql.unsafe(`SELECT id FROM ${schema}.item WHERE ${c} = $1::text::${casts[c]} ORDER BY id`, [row[c]])
      say('parameter', row.id, c, found.map((r) => r.id).join())
    }
  }
  const written = [{ id: 7, name: 'é "q" \\ \n', price: '12.50', qty: -3, at: new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 120)), raw: Buffer.from([0, 1, 255]) },
    { id: 8, name: null, price: null, qty: null, at: null, raw: null }]
  say('written', [...await sql`INSERT INTO ${sink} ${sql(written)} RETURNING *`])
  say('updated', [...await sql`UPDATE ${sink} SET ${sql({ name: 'changed', qty: 4 })} WHERE id = ${8} RETURNING *`])
  say('in', [...await sql`SELECT id, name FROM ${item} WHERE id IN ${sql([3, 5, 7])} ORDER BY id`])
  say('any', [...await sql`SELECT id, name FROM ${item} WHERE id = ANY(${[3, 5, 7]}) ORDER BY id`])
  say('deleted', (await sql`DELETE FROM ${sink}`).count)
}

const casts = {
  id: 'int', name: 'text', price: 'numeric', qty: 'int2', big: 'int8', ratio: 'float8', r4: 'float4', ok: 'bool', day: 'date', at: 'timestamp',
  atz: 'timestamptz', uid: 'uuid', doc: 'jsonb', tags: 'text[]', raw: 'bytea', span: 'interval', t: 'time', note: 'varchar',
}

async function prepared(sql, say, { item }) {
  const byID = (a, b) => sql`SELECT id, name, price FROM ${item} WHERE id BETWEEN ${a} AND ${b} ORDER BY id`
  for (const [a, b] of [[1, 3], [7, 7], [500, 600], [11, 12]]) say([...await byID(a, b)])
  await failing(say, 'bad value', () => byID('x', 1))
  say('after an error', [...await byID(2, 2)])
  const [{ n }] = await sql`SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE '%BETWEEN $1 AND $2%' AND name NOT LIKE 'sluice%'`
  say('prepared', n)
  const bare = open({ prepare: false })
  say('unprepared', [...await bare`SELECT id FROM ${bare(`${schema}.item`)} WHERE id < ${4} ORDER BY id`])
  await bare.end()
}

async function cursor(sql, say, { series }) {
  for (const size of [1, 7, 999, 1000, 50000]) {
    let rows = 0, pieces = 0, last
    await sql`SELECT n, label FROM ${series} WHERE n <= ${size === 1 ? 20 : 50000} ORDER BY n`.cursor(size, (got) => {
      rows += got.length
      last = got.at(-1)
      if (++pieces >= 60) return sql.CLOSE
    })
    say('cursor', size, pieces, rows, last)
  }
  let seen = 0
  for await (const rows of sql`SELECT n FROM ${series} ORDER BY n`.cursor(10)) {
    seen += rows.length
    if (seen >= 30) break
  }
  say('left early', seen)
  let n = 0
  await sql`SELECT n FROM ${series} ORDER BY n`.forEach(() => { n++ })
  say('forEach', n)
}

async function pipelined(sql, say, { item, series, sink }) {
  const results = await Promise.allSettled([
    sql`SELECT count(*) FROM ${series}`,
    sql`SELECT 1 AS home`,
    sql`SELECT id FROM ${item} WHERE id = ${5}`,
    sql`SELECT 1 / (id - 5) FROM ${item} WHERE id = ${5}`,
    sql`SELECT name FROM ${item} WHERE id = ${6}`,
    sql`SELECT 2 AS home`,
  ])
  for (const r of results) say(r.status, r.value ? [...r.value] : r.reason.code + ' ' + r.reason.message)
  const many = await Promise.all(Array.from({ length: 100 }, (_, i) => sql`SELECT id, ${i} + 1 AS next FROM ${item} WHERE id = ${i + 1}`))
  say('hundred', many.map((r) => r[0].id + ':' + r[0].next).join())
  const simple = await sql`SELECT 1 AS a; SELECT count(*) FROM ${item}; INSERT INTO ${sink} (id) VALUES (1), (2); DELETE FROM ${sink}`.simple()
  for (const r of simple) say('simple', r.command, r.count, [...r])
  await failing(say, 'simple with an error', () => sql`INSERT INTO ${sink} (id) VALUES (3); SELECT 1/0`.simple())
  say('undone', [...await sql`SELECT count(*) FROM ${sink}`])
  await sql.begin((tx) => [tx`INSERT INTO ${sink} (id) VALUES (4)`, tx`SELECT count(*) FROM ${sink}`, tx`DELETE FROM ${sink}`])
  say('begin in a pipeline', [...await sql`SELECT count(*) FROM ${sink}`])
}

async function collect(stream) {
  const chunks = []
  await pipeline(stream, new Writable({ write(chunk, _, done) { chunks.push(chunk); done() } }))
  return Buffer.concat(chunks)
}

// copyOut has a connection of its own: this client may leave one paused that was faster than what reads the stream.
async function copyOut(text) {
  const sql = open()
  const data = await collect(await sql.unsafe(text).readable())
  sql.end({ timeout: 1 })
  return data
}

async function copying(sql, say, { sink }) {
  for (const options of ['', 'WITH (FORMAT csv, HEADER)', 'WITH (FORMAT binary)']) {
    const data = await copyOut(`COPY (SELECT * FROM ${schema}.item ORDER BY id) TO STDOUT ${options}`)
    say('out', options, data.length, crypto.createHash('sha256').update(data).digest('hex'))
  }
  const whole = await copyOut(`COPY ${schema}.series TO STDOUT`)
  say('table', whole.length, whole.toString().split('\n').length)
  const lines = Array.from({ length: 5000 }, (_, i) => `${i}\tname ${i}\t${i / 100}\t\\N\t2024-01-01 00:00:00\t\\\\x00ff\n`)
  await pipeline(Readable.from(lines), await sql`COPY ${sink} FROM STDIN`.writable())
  say('in', [...await sql`SELECT count(*), sum(id), max(price) AS p, max(name) AS n, min(at) AS t, count(qty) AS q FROM ${sink}`])
  say('after', [...await sql`SELECT count(*) FROM ${sink}`], (await sql`TRUNCATE ${sink}`).command)
}

async function cancel(sql, say, { item }) {
  for (const text of ['SELECT pg_sleep(60)', endless(schema)]) {
    const running = sql.unsafe(text)
    await failing(say, text.startsWith('SELECT pg') ? 'sleep' : 'series', () => until(running.execute().then((r) => r), () => running.cancel()))
    say('goes on', [...await sql`SELECT count(*) FROM ${item}`])
  }
}

async function rollback(sql, say, { item, sink }) {
  const count = async (s) => (await s`SELECT count(*) FROM ${sink}`)[0].count
  await failing(say, 'undone', () => sql.begin(async (tx) => {
    await tx`INSERT INTO ${sink} (id, name) SELECT id, name FROM ${item} WHERE id <= 10`
    say('within', await count(tx))
    throw new Error('no')
  }))
  say('rolled back', await count(sql))
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`INSERT INTO ${sink} (id, name) SELECT id, name FROM ${item} WHERE id <= 10`
    await tx`UPDATE ${sink} SET price = id * 1.5 WHERE id > 5`
    say('within', await count(tx))
  })
  say('committed', [...await sql`SELECT count(*), sum(price), count(price) AS priced FROM ${sink}`])
  await failing(say, 'fails', () => sql.begin(async (tx) => {
    await tx`SELECT 1 / (id - 1) FROM ${item}`.catch((e) => say('caught', e.code))
    return tx`SELECT count(*) FROM ${item}`
  }))
  await sql.begin('read only', async (tx) => say('read only', [...await tx`SELECT count(*) FROM ${item}`]))
  await sql.begin(async (tx) => {
    const inner = await tx.savepoint(async (sp) => sp`SELECT 1 / (id - 1) FROM ${item}`).catch((e) => e.code)
    say('savepoint', inner, [...await tx`SELECT count(*) FROM ${item}`])
  })
  say('deleted', (await sql`DELETE FROM ${sink}`).count)
}

async function errors(sql, say) {
  const statements = [
    'SELEC 1', `SELECT * FROM ${scratch}.missing_table`, `SELECT missing FROM ${schema}.item`, `SELECT id / 0 FROM ${schema}.item`,
    `SELECT name::int FROM ${schema}.item WHERE id = 5`, `SELECT sum(name) FROM ${schema}.item`, `INSERT INTO ${schema}.item (id) VALUES (NULL)`,
    `INSERT INTO ${schema}.sink (id, qty) VALUES (1, 40000)`, `SELECT * FROM ${schema}.item WHERE id = 'x'`, `SELECT * FROM ${schema}.item LIMIT -1`,
  ]
  for (const text of statements) {
    await failing(say, text.replaceAll(schema + '.', '').replaceAll(scratch + '.', ''), async () => {
      try {
        return [...await sql.unsafe(text)]
      } catch (e) {
        say(e.name, e.severity, e.code, show(e.detail), show(e.hint), show(e.column_name), show(e.table_name), show(e.routine))
        e.message = e.message.replaceAll(scratch, 'scratch')
        throw e
      }
    })
  }
  await failing(say, 'undefined', () => sql`SELECT ${undefined}`)
  say([...await sql`SELECT 1 AS goes_on`])
}

main({
  connect: check(connect),
  introspect: check(introspect),
  types: check(types),
  prepared: check(prepared),
  cursor: check(cursor),
  pipeline: check(pipelined),
  copy: check(copying),
  cancel: check(cancel),
  rollback: check(rollback),
  errors: check(errors),
}).then(() => process.exit()) // a connection that was left paused keeps the program alive
