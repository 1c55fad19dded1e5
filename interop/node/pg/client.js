// node-postgres with pg-cursor, pg-query-stream and pg-copy-streams.
'use strict'
const { pipeline } = require('node:stream/promises')
const { Readable, Writable } = require('node:stream')
const pg = require('pg')
const Cursor = require('pg-cursor')
const QueryStream = require('pg-query-stream')
const copy = require('pg-copy-streams')
const { main, url, schema, scratch, columns, endless, failing, until, show } = require('../check')

const config = { connectionString: url, statement_timeout: 60000, enableChannelBinding: true }
const item = `${schema}.item`
const series = `${schema}.series`
const sink = `${schema}.sink`

async function withClient(use) {
  const client = new pg.Client(config)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const check = (use) => (say) => withClient((client) => use(client, say))

const asText = { getTypeParser: () => (v) => v }

async function connect(say) {
  const client = new pg.Client(config)
  const status = {}
  client.connection.on('parameterStatus', (m) => { status[m.parameterName] = m.parameterValue })
  await client.connect()
  say(status)
  const { rows } = await client.query(`SELECT current_user, session_user, current_setting('server_version') AS version`)
  say(rows)
  await client.end()
  const pool = new pg.Pool({ ...config, max: 4 })
  const all = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => pool.query(`SELECT count(*), $1::int AS i FROM ${item}`, [i])))
  say('pool', all.map((r) => r.rows[0]))
  await pool.end()
  const wrong = new pg.Client(url.replace(/:[^:@/]+@/, ':wrong@'))
  await failing(say, 'wrong password', () => wrong.connect())
}

async function introspect(client, say) {
  const { rows } = await client.query({
    text: 'SELECT * FROM information_schema.columns WHERE table_schema = $1 ORDER BY table_name, ordinal_position',
    values: [schema],
  })
  for (const row of rows) {
    for (const key of Object.keys(row).filter((k) => /catalog|schema/.test(k))) delete row[key]
    say(row)
  }
  const tables = await client.query('SELECT table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1', [schema])
  say(tables.rows)
}

async function types(client, say) {
  for (const table of ['item', 'series', 'sink']) {
    const { fields } = await client.query(`SELECT * FROM ${schema}.${table} LIMIT 0`)
    for (const f of fields) say(table, f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier, f.columnID, f.tableID > 0, f.format)
  }
  const text = `SELECT * FROM ${item} ORDER BY id`
  const { rows } = await client.query(text)
  for (const row of rows) say('text', row)
  const bare = await client.query({ text, types: asText, rowMode: 'array' })
  for (const row of bare.rows) say('wire', row)
  const binary = await client.query({ text, types: asText, binary: true, rowMode: 'array' })
  for (const row of binary.rows) say('binary', row.map((v) => (typeof v === 'string' ? Buffer.from(v) : v)))
  for (const row of bare.rows.filter((r) => [1, 2, 3, 77, 199].includes(Number(r[0])))) {
    for (const [i, column] of columns.entries()) {
      const found = await client.query(`SELECT count(*), min(id), $1::text IS NULL AS isnull FROM ${item} WHERE ${column}::text = $1::text`, [row[i]])
      const typed = await client.query(`SELECT id FROM ${item} WHERE ${column} = $1 ORDER BY id`, [row[i]])
      say('parameter', row[0], column, found.rows, typed.rows.map((r) => r.id).join())
    }
  }
  const values = [7, 'é "q" \\ \n', '12.50', -3, new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 120)), Buffer.from([0, 1, 255])]
  say('written', (await client.query(`INSERT INTO ${sink} VALUES ($1, $2, $3, $4, $5, $6) RETURNING *`, values)).rows)
  say('nulls', (await client.query(`INSERT INTO ${sink} VALUES ($1, $2, $3, $4, $5, $6) RETURNING *`, [8, null, null, null, null, null])).rows)
  say('read', (await client.query(`SELECT * FROM ${sink} ORDER BY id`)).rows)
  say('deleted', (await client.query(`DELETE FROM ${sink}`)).rowCount)
}

async function prepared(client, say) {
  const named = (values) => client.query({ name: 'by-id', text: `SELECT id, name, price FROM ${item} WHERE id BETWEEN $1 AND $2 ORDER BY id`, values })
  for (const values of [[1, 3], [7, 7], [500, 600], ['11', '12'], [null, 1]]) say((await named(values)).rows)
  await failing(say, 'bad value', () => named(['x', 1]))
  say('after an error', (await named([2, 2])).rows)
  const { rows } = await client.query(`SELECT name, parameter_types::text FROM pg_prepared_statements WHERE name = 'by-id'`)
  say(rows)
  await failing(say, 'other text', () => client.query({ name: 'by-id', text: 'SELECT 1' }))
  await client.query('DEALLOCATE ALL')
  await failing(say, 'deallocated', () => named([1, 3]))
  await client.query('DISCARD ALL')
  say('after DISCARD ALL', (await client.query(`SELECT id, name FROM ${item} WHERE id = $1`, [4])).rows)
}

async function cursor(client, say) {
  for (const size of [1, 7, 1000, 50000]) {
    const c = client.query(new Cursor(`SELECT n, label FROM ${series} WHERE n <= $1 ORDER BY n`, [size === 1 ? 20 : 50000]))
    let rows = 0, reads = 0, last
    for (let got; (got = await c.read(size)).length > 0 && reads < 60; reads++) {
      rows += got.length
      last = got.at(-1)
    }
    await c.close()
    say('cursor', size, reads, rows, last)
  }
  const stream = client.query(new QueryStream(`SELECT n, label FROM ${series} ORDER BY n`, [], { batchSize: 999 }))
  let n = 0, sum = 0n
  for await (const row of stream) { n++; sum += BigInt(row.n) }
  say('stream', n, sum)
  const left = client.query(new QueryStream(`SELECT n FROM ${series} ORDER BY n`, [], { batchSize: 10 }))
  const seen = []
  for await (const row of left) if (seen.push(row.n) === 25) break
  say('left early', seen.length, seen.at(-1))
  await client.query('BEGIN')
  await client.query(`DECLARE c SCROLL CURSOR FOR SELECT n FROM ${series} ORDER BY n`)
  for (const how of ['3', 'BACKWARD 2', 'ABSOLUTE 40000', 'LAST', 'FIRST']) {
    const r = await client.query(`FETCH ${how} FROM c`)
    say('FETCH', how, r.command, r.rowCount, r.rows.map((x) => x.n).join())
  }
  await client.query('COMMIT')
}

async function pipelined(client, say) {
  const results = await Promise.allSettled([
    client.query(`SELECT count(*) FROM ${series}`),
    client.query('SELECT 1 AS home'),
    client.query(`SELECT id FROM ${item} WHERE id = $1`, [5]),
    client.query(`SELECT 1 / (id - 5) FROM ${item} WHERE id = $1`, [5]),
    client.query(`SELECT name FROM ${item} WHERE id = $1`, [6]),
  ])
  for (const r of results) say(r.status, r.value ? r.value.rows : r.reason.code + ' ' + r.reason.message)
  const many = await client.query(`SELECT 1 AS a; SELECT count(*) FROM ${item}; INSERT INTO ${sink} (id) VALUES (1), (2); SELECT id FROM ${sink} ORDER BY id; DELETE FROM ${sink}`)
  for (const r of many) say('simple', r.command, r.rowCount, r.rows)
  await failing(say, 'simple with an error', () => client.query(`INSERT INTO ${sink} (id) VALUES (3); SELECT 1/0; SELECT 2`))
  say('all undone', (await client.query(`SELECT count(*) FROM ${sink}`)).rows)
}

async function collect(stream) {
  const chunks = []
  await pipeline(stream, new Writable({ write(chunk, _, done) { chunks.push(chunk); done() } }))
  return Buffer.concat(chunks)
}

async function copying(client, say) {
  for (const options of ['', 'WITH (FORMAT csv, HEADER)', 'WITH (FORMAT binary)']) {
    const stream = client.query(copy.to(`COPY (SELECT * FROM ${item} ORDER BY id) TO STDOUT ${options}`))
    const data = await collect(stream)
    say('out', options, data.length, require('node:crypto').createHash('sha256').update(data).digest('hex'), stream.rowCount)
  }
  const whole = await collect(client.query(copy.to(`COPY ${series} TO STDOUT`)))
  say('table', whole.length, whole.toString().split('\n').length)
  const lines = Array.from({ length: 5000 }, (_, i) => `${i}\tname ${i}\t${i / 100}\t\\N\t2024-01-01 00:00:00\t\\\\x00ff\n`)
  const into = client.query(copy.from(`COPY ${sink} FROM STDIN`))
  await pipeline(Readable.from(lines), into)
  say('in', into.rowCount, (await client.query(`SELECT count(*), sum(id), max(price) AS p, max(name), min(at) AS t, count(qty) AS q, max(length(raw)) AS l FROM ${sink}`)).rows)
  await failing(say, 'bad row', () => pipeline(Readable.from(['1\ta\n']), client.query(copy.from(`COPY ${sink} FROM STDIN`))))
  await failing(say, 'bad value', () => pipeline(Readable.from(['x,a\n']), client.query(copy.from(`COPY ${sink} (id, name) FROM STDIN WITH (FORMAT csv)`))))
  say('after', (await client.query(`SELECT count(*) FROM ${sink}`)).rows, (await client.query(`TRUNCATE ${sink}`)).command)
}

async function cancel(client, say) {
  for (const text of ['SELECT pg_sleep(60)', endless(schema)]) {
    const query = new pg.Query(text)
    const running = new Promise((resolve, reject) => { query.on('end', resolve); query.on('error', reject) })
    client.query(query)
    await failing(say, text.startsWith('SELECT pg') ? 'sleep' : 'series', () =>
      until(running, () => new pg.Client(config).cancel(client, query)))
    say('goes on', (await client.query(`SELECT count(*) FROM ${item}`)).rows)
  }
}

async function rollback(client, say) {
  const count = async () => (await client.query(`SELECT count(*) FROM ${sink}`)).rows[0].count
  for (const end of ['ROLLBACK', 'COMMIT']) {
    await client.query('BEGIN')
    await client.query(`INSERT INTO ${sink} (id, name) SELECT id, name FROM ${item} WHERE id <= 10`)
    await client.query(`UPDATE ${sink} SET price = id * 1.5 WHERE id > 5`)
    say('within', await count(), client._txStatus)
    say((await client.query(end)).command, await count())
  }
  await client.query('BEGIN')
  await failing(say, 'fails', () => client.query(`SELECT 1 / (id - 1) FROM ${item}`))
  await failing(say, 'then', () => client.query(`SELECT count(*) FROM ${item}`))
  say((await client.query('COMMIT')).command)
  say('sum', (await client.query(`SELECT sum(price), count(price) FROM ${sink}`)).rows, (await client.query(`DELETE FROM ${sink} WHERE id > 0`)).rowCount)
}

async function errors(client, say) {
  const statements = [
    'SELEC 1',
    `SELECT * FROM ${scratch || 'public'}.missing_table`,
    `SELECT missing FROM ${item}`,
    `SELECT id / 0 FROM ${item}`,
    `SELECT name::int FROM ${item}`,
    `SELECT sum(name) FROM ${item}`,
    `SELECT name FROM ${item} GROUP BY id + 1`,
    `INSERT INTO ${item} (id) VALUES (NULL)`,
    `INSERT INTO ${sink} (id, qty) VALUES (1, 40000)`,
    `INSERT INTO ${sink} (price) VALUES (123456789.5)`,
    `INSERT INTO ${sink} (nothing) VALUES (1)`,
    `SELECT * FROM ${item} WHERE id = 'x'`,
    `SELECT * FROM ${item} LIMIT -1`,
  ]
  for (const text of statements) {
    try {
      say('no error', (await client.query(text)).rows)
    } catch (e) {
      say(e.constructor.name, e.severity, e.code, e.message.replaceAll(scratch, 'scratch'), show(e.position && text.slice(e.position - 1).split(' ')[0]), show(e.detail), show(e.hint), show(e.column), show(e.table))
    }
  }
  say((await client.query('SELECT 1 AS goes_on')).rows)
}

main({
  connect,
  introspect: check(introspect),
  types: check(types),
  prepared: check(prepared),
  cursor: check(cursor),
  pipeline: check(pipelined),
  copy: check(copying),
  cancel: check(cancel),
  rollback: check(rollback),
  errors: check(errors),
})
