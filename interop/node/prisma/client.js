// Prisma with its driver adapter for node-postgres. `prisma db pull` is left out: it fetches an engine from elsewhere than npm.
'use strict'
const { join } = require('node:path')
const { PrismaPg } = require('@prisma/adapter-pg')
const { PrismaClient, Prisma } = require(join(process.env.SLUICE_INTEROP_CACHE, 'node', 'prisma-client'))
const { main, url, schema, failing } = require('../check')

// open makes a client whose tables are those of the schema that is tested.
const open = (connectionString = url) => new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 2 }, { schema }), errorFormat: 'minimal' })

// readable has decimals say what they are.
const readable = (v) => {
  if (Prisma.Decimal.isDecimal(v)) return `Decimal(${v})`
  if (Array.isArray(v)) return v.map(readable)
  if (v === null || Object.getPrototypeOf(v) !== Object.prototype) return v
  return Object.fromEntries(Object.entries(v).map(([name, value]) => [name, readable(value)]))
}

const check = (use) => async (say) => {
  const db = open()
  try {
    return await use(db, (...detail) => say(...detail.map(readable)))
  } finally {
    await db.$disconnect()
  }
}

async function connect(db, say) {
  await db.$connect()
  say(await db.$queryRaw`SELECT current_user::text, session_user::text, current_setting('server_version') AS version`)
  say(await db.item.count())
  const wrong = open(url.replace(/:[^:@/]+@/, ':wrong@'))
  await failing(say, 'wrong password', () => wrong.item.count())
  await wrong.$disconnect()
}

async function types(db, say) {
  for (const row of await db.item.findMany({ omit: { tags: true }, orderBy: { id: 'asc' } })) say(row)
  say(await db.item.findMany({ where: { NOT: { tags: { has: 'a' } } }, select: { id: true, tags: true }, orderBy: { id: 'asc' } })) // it takes no NULL in a list
  const ordinary = await db.item.findFirst({ where: { id: 8 } })
  for (const where of [
    { name: ordinary.name }, { price: ordinary.price }, { qty: ordinary.qty }, { big: ordinary.big }, { ok: ordinary.ok }, { day: ordinary.day },
    { at: ordinary.at }, { atz: ordinary.atz }, { uid: { not: null } }, { raw: ordinary.raw }, { note: { startsWith: 'note 1' } },
    { name: { contains: 'ITEM 1', mode: 'insensitive' } }, { tags: { has: 'ü' } }, { price: { gt: new Prisma.Decimal('100.01') }, ok: true },
    { id: { in: [1, 2, 3] } }, { OR: [{ qty: null }, { NOT: { big: { lt: 10n } } }] },
  ]) say(where, await db.item.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } }))
  await db.sink.create({ data: { id: 1, name: 'Zoë 🙂', price: '12.50', qty: -3, at: new Date('2024-02-29T12:30:00.123Z'), raw: Buffer.from([0, 255, 39]) } })
  await db.sink.create({ data: { id: 2 } })
  say(await db.sink.findMany({ orderBy: { id: 'asc' } }))
  say(await db.sink.deleteMany())
}

async function prepared(db, say) {
  for (const id of [1, 2, 3, 250]) {
    say(await db.item.findUnique({ where: { id }, select: { id: true, name: true } }))
    say(await db.$queryRawUnsafe(`SELECT id, price FROM ${schema}.item WHERE id = $1`, id))
  }
  say(await db.item.aggregate({ _count: true, _sum: { price: true }, _min: { day: true }, _max: { note: true }, where: { id: { gt: 10 } } }))
  say(await db.item.groupBy({ by: ['ok'], _count: { _all: true }, _avg: { price: true }, orderBy: { ok: 'asc' } }))
}

async function pipeline(db, say) {
  say(await db.$transaction([db.item.count(), db.series.count(), db.sink.create({ data: { id: 1, name: 'one' } }), db.sink.findMany()]))
  await failing(say, 'batch', () => db.$transaction([db.sink.create({ data: { id: 2 } }), db.sink.create({ data: { id: 3, qty: 40000 } })]))
  say(await db.sink.findMany(), await db.sink.deleteMany())
  say(await Promise.all([1, 2, 3, 4, 5].map((id) => db.item.findFirst({ where: { id }, select: { name: true } }))))
}

async function copy(db, say) {
  const data = Array.from({ length: 1500 }, (_, i) => ({ id: i, name: 'row ' + i, price: new Prisma.Decimal(i).div(4) }))
  say(await db.sink.createMany({ data }))
  say(await db.sink.aggregate({ _count: true, _sum: { price: true, id: true } }))
  say(await db.sink.updateMany({ where: { id: { lt: 100 } }, data: { qty: 7 } }), await db.sink.deleteMany({ where: { qty: 7 } }), await db.sink.deleteMany())
}

async function rollback(db, say) {
  for (const end of [new Error('rolled back'), null]) {
    const within = db.$transaction(async (tx) => {
      say(await tx.sink.createMany({ data: [{ id: 1, name: 'one' }, { id: 2 }] }))
      say(await tx.sink.updateMany({ where: { id: 2 }, data: { name: 'two', qty: 2 } }), await tx.sink.findMany({ orderBy: { id: 'asc' } }))
      if (end) throw end
    }, { timeout: 60000, maxWait: 60000, isolationLevel: 'RepeatableRead' })
    await within.catch((e) => say(e.message))
    say(await db.sink.count())
  }
  say(await db.sink.deleteMany())
}

async function errors(db, say) {
  await failing(say, 'syntax', () => db.$queryRawUnsafe('SELEC 1'))
  await failing(say, 'missing', () => db.$queryRawUnsafe(`SELECT * FROM ${process.env.SLUICE_INTEROP_SCRATCH}.missing`))
  await failing(say, 'division', () => db.$queryRawUnsafe(`SELECT id / 0 AS x FROM ${schema}.item`))
  await failing(say, 'range', () => db.sink.create({ data: { id: 1, qty: 40000 } }))
  await failing(say, 'null', () => db.$executeRawUnsafe(`INSERT INTO ${schema}.sink (name) VALUES ('x')`))
  await failing(say, 'none', () => db.item.findUniqueOrThrow({ where: { id: 1000 } }))
}

main({
  connect: check(connect),
  introspect: 'prisma db pull fetches an engine from elsewhere than npm',
  types: check(types),
  prepared: check(prepared),
  cursor: 'pages are read by keys',
  pipeline: check(pipeline),
  copy: check(copy),
  cancel: 'a statement cannot be cancelled',
  rollback: check(rollback),
  errors: check(errors),
})
