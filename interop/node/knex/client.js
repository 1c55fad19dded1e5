// Knex: its query builder, schema inspection, transactions and streams, on node-postgres.
'use strict'
const knex = require('knex')
const { main, url, schema, scratch, endless, failing } = require('../check')

const quiet = { warn() {}, error() {}, debug() {}, deprecate() {} }
let refused = () => {} // is told each error that the server sends

const afterCreate = (connection, done) => {
  connection.connection.on('errorMessage', (m) => refused(m))
  done(null, connection)
}
const open = (max = 1) => knex({ client: 'pg', connection: url, searchPath: [schema], log: quiet, pool: { min: 0, max, afterCreate } })

const check = (use, max) => async (say) => {
  const db = open(max)
  try {
    return await use(db, say)
  } finally {
    await db.destroy()
  }
}

async function connect(db, say) {
  say((await db.raw('SELECT current_user, session_user, current_setting(?) AS version', ['server_version'])).rows)
  const wrong = knex({ client: 'pg', connection: url.replace(/:[^:@/]+@/, ':wrong@'), log: quiet, pool: { min: 0, max: 1 } })
  await failing(say, 'wrong password', () => wrong.raw('SELECT 1'))
  await wrong.destroy()
}

async function introspect(db, say) {
  for (const table of ['item', 'series', 'sink', 'missing']) {
    say(table, await db.schema.hasTable(table), await db.schema.hasColumn(table, 'id'), await db(table).columnInfo())
  }
  const columns = await db('information_schema.columns').where({ table_schema: schema })
    .select('table_name', 'column_name', 'data_type', 'is_nullable', 'character_maximum_length').orderBy(['table_name', 'ordinal_position'])
  say(columns)
  say(await db('pg_catalog.pg_class as c').join('pg_catalog.pg_namespace as n', 'n.oid', 'c.relnamespace').where('n.nspname', schema)
    .whereIn('c.relkind', ['r', 'f']).orderBy('relname').select('relname', 'relkind', 'relnatts'))
}

async function types(db, say) {
  for (const row of await db('item').orderBy('id')) say(row)
  for (const row of await db('item').whereIn('id', [2, 3, 77, 199]).orderBy('id')) {
    for (const column of Object.keys(row).filter((k) => !['doc', 'tags', 'span'].includes(k))) {
      say('parameter', row.id, column, await db('item').where(column, row[column]).orderBy('id').pluck('id'))
    }
  }
  say(await db('sink').insert([
    { id: 7, name: 'é "q" ? \\ \n', price: '12.50', qty: -3, at: new Date(Date.UTC(2024, 1, 29, 12)), raw: Buffer.from([0, 1, 255]) },
    { id: 8, name: null },
  ]).returning('*'))
  say(await db('sink').where('id', 8).update({ name: 'changed', qty: db.raw('id + ?', [1]) }).returning(['id', 'name', 'qty']))
  say(await db('sink').where('id', 7).increment('qty', 10), await db('sink').orderBy('id').select('id', 'qty', 'at'))
  say(await db('sink').whereNotNull('name').del())
  say('builder', await db('item as i').join('series as s', 's.n', 'i.id').where('i.ok', true).groupBy('i.qty').having(db.raw('count(*) > 0'))
    .select('i.qty').count('* as c').sum('s.n as total').max('i.day as latest').orderBy('i.qty', 'desc', 'last').limit(5).offset(2))
  say('union', await db('item').select('id').where('id', '<', 3).unionAll(db('series').select('n').where('n', '>', 49998)).orderBy('id'))
  say('with', await db.with('few', db('item').where('id', '<=', 20)).from('few').avg('price').first())
  say('json', await db('item').whereJsonPath('doc', '$.id', '>', 100).orderBy('id').limit(3).select('id', db.raw(`doc->>'name' AS name`)))
  say('like', await db('item').whereILike('name', 'ITEM 1%').orderBy('id').limit(4).pluck('name'))
  say('distinct', await db('item').distinctOn('ok').orderBy([{ column: 'ok' }, { column: 'id' }]).select('ok', 'id'))
}

async function prepared(db, say) {
  const byID = (id) => db('item').where({ id }).first('id', 'name', 'price')
  for (const id of [1, 7, 500, '11']) say(await byID(id))
  await failing(say, 'bad value', () => byID('x'))
  say('after an error', await byID(2))
}

async function cursor(db, say) {
  let n = 0, sum = 0
  for await (const row of db('series').orderBy('n').stream({ highWaterMark: 500 })) { n++; sum += Number(row.n) }
  say('stream', n, sum)
  const seen = []
  for await (const row of db('series').orderBy('n').stream({ highWaterMark: 10 })) if (seen.push(row.n) === 25) break
  say('left early', seen.length, seen.at(-1))
}

async function pipelined(db, say) {
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => db('item').where('id', i + 1).first('id')))
  say(all.map((r) => r.id))
  await db.batchInsert('sink', Array.from({ length: 1000 }, (_, i) => ({ id: i, name: 'n' + i })), 300)
  say('batchInsert', await db('sink').count('* as n').sum('id as s').first(), await db('sink').del())
}

// cancel is pg_cancel_backend over a second connection here. The statement's own timeout is there for one that it does not reach.
async function cancel(db, say) {
  for (const text of ['SELECT pg_sleep(60)', endless(schema)]) {
    const what = text.startsWith('SELECT pg') ? 'sleep' : 'series'
    await db.raw(`SET statement_timeout = '5s'`)
    const ended = new Promise((resolve) => { refused = resolve })
    await failing(say, what, () => db.raw(text).timeout(700, { cancel: true }))
    const e = await ended
    say(what, 'ended', e.code, e.message.split(' - ').at(-1))
    say('goes on', await db('item').count('* as n').first())
  }
}

async function rollback(db, say) {
  const count = async (q) => (await q('sink').count('* as n').first()).n
  await failing(say, 'undone', () => db.transaction(async (tx) => {
    await tx('sink').insert(tx('item').where('id', '<=', 10).select('id', 'name')).into(tx.raw('sink (id, name)'))
    say('within', await count(tx))
    throw new Error('no')
  }))
  say('rolled back', await count(db))
  await db.transaction(async (tx) => {
    await tx('sink').insert([{ id: 1 }, { id: 2 }])
    await tx('sink').where('id', 2).update({ price: 1.5 })
    say('within', await count(tx))
  }, { isolationLevel: 'repeatable read' })
  say('committed', await db('sink').orderBy('id').select('id', 'price'))
  await db.transaction(async (tx) => {
    await failing(say, 'inner', () => tx.transaction((inner) => inner.raw('SELECT 1 / (id - 1) FROM item')))
    say('savepoint', await tx('item').count('* as n').first())
  })
  say(await db('sink').truncate().then(() => count(db)))
}

async function errors(db, say) {
  await failing(say, 'syntax', () => db.raw('SELEC 1'))
  await failing(say, 'table', () => db('missing_table'))
  await failing(say, 'column', () => db('item').select('missing'))
  await failing(say, 'division', () => db('item').select(db.raw('id / 0')))
  await failing(say, 'not null', () => db('sink').insert({ name: 'x' }))
  await failing(say, 'range', () => db('sink').insert({ id: 1, qty: 40000 }))
  await failing(say, 'type', () => db('item').where('uid', 'x'))
  await failing(say, 'schema', () => db.withSchema(scratch).from('missing').then(undefined, (e) => { e.message = e.message.replaceAll(scratch, 'scratch'); throw e }))
  say('goes on', await db('item').count('* as n').first())
}

main({
  connect: check(connect),
  introspect: check(introspect),
  types: check(types),
  prepared: check(prepared),
  cursor: check(cursor),
  pipeline: check(pipelined, 4),
  copy: 'Knex has none',
  cancel: check(cancel, 2),
  rollback: check(rollback),
  errors: check(errors),
})
