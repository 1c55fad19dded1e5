// TypeORM: entities on tables that exist, its query builder, query runner, table inspection and streams.
'use strict'
require('reflect-metadata')
const { DataSource, EntitySchema, In, Between, Like, IsNull, Not, MoreThan } = require('typeorm')
const { main, url, schema, scratch, failing } = require('../check')

const Item = new EntitySchema({
  name: 'Item',
  tableName: 'item',
  columns: {
    id: { type: 'int', primary: true }, name: { type: 'text' }, price: { type: 'numeric', precision: 10, scale: 2, nullable: true },
    qty: { type: 'smallint', nullable: true }, big: { type: 'bigint', nullable: true }, ratio: { type: 'double precision', nullable: true },
    r4: { type: 'real', nullable: true }, ok: { type: 'boolean', nullable: true }, day: { type: 'date', nullable: true },
    at: { type: 'timestamp', nullable: true }, atz: { type: 'timestamptz', nullable: true }, uid: { type: 'uuid', nullable: true },
    doc: { type: 'jsonb', nullable: true }, tags: { type: 'text', array: true, nullable: true }, raw: { type: 'bytea', nullable: true },
    span: { type: 'interval', nullable: true }, t: { type: 'time', nullable: true }, note: { type: 'varchar', length: 40, nullable: true },
  },
})
const Series = new EntitySchema({ name: 'Series', tableName: 'series', columns: { n: { type: 'bigint', primary: true }, label: { type: 'text' } } })
const Sink = new EntitySchema({
  name: 'Sink',
  tableName: 'sink',
  columns: {
    id: { type: 'int', primary: true }, name: { type: 'text', nullable: true }, price: { type: 'numeric', nullable: true },
    qty: { type: 'smallint', nullable: true }, at: { type: 'timestamp', nullable: true }, raw: { type: 'bytea', nullable: true },
  },
})

const source = (options) => new DataSource({ type: 'postgres', url, schema, entities: [Item, Series, Sink], installExtensions: false, poolSize: 2, ...options })

const check = (use) => async (say) => {
  const db = await source().initialize()
  try {
    return await use(db, say)
  } finally {
    await db.destroy()
  }
}

const plain = (entities) => entities.map((e) => ({ ...e }))

async function connect(db, say) {
  say(db.isInitialized, db.driver.version, await db.query('SELECT current_user, session_user'))
  const runner = db.createQueryRunner()
  say('database', (await runner.getCurrentDatabase()) === db.driver.database, (await runner.hasSchema(schema)), await runner.hasSchema('missing'))
  await runner.release()
  await failing(say, 'wrong password', () => source({ url: url.replace(/:[^:@/]+@/, ':wrong@') }).initialize())
}

async function introspect(db, say) {
  const runner = db.createQueryRunner()
  for (const name of ['item', 'series', 'sink']) {
    const table = await runner.getTable(`${schema}.${name}`)
    say(await runner.hasTable(`${schema}.${name}`), await runner.hasColumn(`${schema}.${name}`, 'id'))
    for (const c of table.columns) say(name, c.name, c.type, c.isNullable, c.isArray, c.length, c.precision, c.scale, c.default)
  }
  say('missing', await runner.getTable(`${schema}.missing`), (await runner.getTables([`${schema}.item`, `${schema}.sink`])).length)
  await runner.release()
  const rows = await db.createQueryBuilder().select(['c.table_name AS tab', 'c.column_name AS col', 'c.udt_name AS udt', 'c.is_nullable AS nullable'])
    .from('information_schema.columns', 'c').where('c.table_schema = :schema', { schema }).orderBy('c.table_name').addOrderBy('c.ordinal_position').getRawMany()
  say(rows)
}

async function types(db, say) {
  for (const item of plain(await db.getRepository('Item').find({ order: { id: 'ASC' } }))) say(item)
  for (const item of await db.getRepository('Item').findBy({ id: In([2, 3, 77, 199]) })) {
    for (const key of Object.keys(item).filter((k) => item[k] !== null && !['doc', 'tags', 'span'].includes(k))) {
      const found = await db.getRepository('Item').find({ where: { [key]: item[key] }, select: { id: true }, order: { id: 'ASC' } })
      say('parameter', item.id, key, found.map((f) => f.id))
    }
  }
  const repository = db.getRepository('Sink')
  say(plain([await repository.save({ id: 7, name: 'é "q" \\ \n', price: '12.50', qty: -3, at: new Date(Date.UTC(2024, 1, 29, 12)), raw: Buffer.from([0, 1, 255]) })]))
  say(plain([await repository.save({ id: 7, name: 'changed' })]), plain(await repository.find()))
  say((await repository.insert([{ id: 8 }, { id: 9, qty: 1 }])).raw, (await repository.update({ id: MoreThan(7) }, { name: 'later' })).affected)
  say(await repository.increment({ id: 9 }, 'qty', 5), plain(await repository.find({ order: { id: 'DESC' } })))
  await repository.remove(await repository.findOneBy({ id: 7 }))
  say((await repository.delete({ id: In([8, 9]) })).affected, await repository.count())
  const items = db.getRepository('Item')
  say('find', await items.findAndCount({ where: [{ id: Between(5, 9), note: Not(IsNull()) }, { name: Like('item 19%') }], select: { id: true, name: true }, order: { id: 'DESC' }, skip: 1, take: 4 }).then(([list, n]) => [plain(list), n]))
  say('aggregates', await items.sum('qty', { id: MoreThan(10) }), await items.average('qty'), await items.maximum('id'), await items.exists({ where: { id: 201 } }))
  say('builder', await db.createQueryBuilder('Item', 'i').innerJoin('Series', 's', 's.n = i.id').select('i.ok', 'ok').addSelect('count(*)', 'c').addSelect('sum(i.price)', 'p')
    .where('i.id > :low', { low: 20 }).andWhere((q) => 'i.id IN ' + q.subQuery().select('x.id').from('Item', 'x').where('x.qty < 50').getQuery()).groupBy('i.ok').orderBy('i.ok', 'ASC', 'NULLS FIRST').getRawMany())
}

async function prepared(db, say) {
  const byID = (id) => db.query(`SELECT id, name, price FROM ${schema}.item WHERE id = $1`, [id])
  for (const id of [1, 7, 500, '11']) say(await byID(id))
  await failing(say, 'bad value', () => byID('x'))
  say('after an error', await byID(2))
}

async function cursor(db, say) {
  const query = () => db.createQueryBuilder('Series', 's').orderBy('s.n')
  let n = 0, sum = 0
  for await (const row of await query().stream()) { n++; sum += Number(row.s_n) }
  say('stream', n, sum)
  const pages = await query().skip(49990).take(5).getMany()
  say('page', plain(pages))
}

async function pipelined(db, say) {
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => db.getRepository('Item').findOne({ where: { id: i + 1 }, select: { id: true } })))
  say(all.map((r) => r.id))
  await db.getRepository('Sink').save(Array.from({ length: 500 }, (_, i) => ({ id: i, name: 'n' + i })), { chunk: 200 })
  say(await db.getRepository('Sink').count(), await db.getRepository('Sink').clear())
}

async function rollback(db, say) {
  await failing(say, 'undone', () => db.transaction(async (m) => {
    await m.insert('Sink', [{ id: 1 }, { id: 2 }])
    say('within', await m.count('Sink'))
    throw new Error('no')
  }))
  say('rolled back', await db.manager.count('Sink'))
  await db.transaction('SERIALIZABLE', async (m) => {
    await m.insert('Sink', [{ id: 1 }, { id: 2 }])
    await m.update('Sink', { id: 2 }, { price: '1.50' })
    say('within', plain(await m.find('Sink', { order: { id: 'ASC' } })))
  })
  const runner = db.createQueryRunner()
  await runner.startTransaction()
  await failing(say, 'fails', () => runner.query(`SELECT 1 / (id - 1) FROM ${schema}.item`))
  await failing(say, 'then', () => runner.query(`SELECT count(*) FROM ${schema}.item`))
  await runner.rollbackTransaction()
  await runner.release()
  say('committed', await db.manager.count('Sink'), (await db.createQueryBuilder().delete().from('Sink').where('id > 0').execute()).affected)
}

async function errors(db, say) {
  await failing(say, 'syntax', () => db.query('SELEC 1'))
  await failing(say, 'table', () => db.query(`SELECT * FROM ${scratch}.missing`).catch((e) => { e.message = e.driverError.message = e.message.replaceAll(scratch, 'scratch'); throw e }))
  await failing(say, 'column', () => db.createQueryBuilder('Item', 'i').select('i.missing').getRawMany())
  await failing(say, 'division', () => db.createQueryBuilder('Item', 'i').select('i.id / 0').getRawMany())
  await failing(say, 'not null', () => db.query(`INSERT INTO ${schema}.sink (name) VALUES ($1)`, ['x']))
  await failing(say, 'range', () => db.getRepository('Sink').insert({ id: 1, qty: 40000 }))
  await failing(say, 'type', () => db.getRepository('Item').findBy({ uid: 'x' }))
  say('goes on', await db.manager.count('Item'))
}

main({
  connect: check(connect),
  introspect: check(introspect),
  types: check(types),
  prepared: check(prepared),
  cursor: check(cursor),
  pipeline: check(pipelined),
  copy: 'TypeORM has none',
  cancel: 'TypeORM has none',
  rollback: check(rollback),
  errors: check(errors),
})
