// The frame of a client's program: runs the checks that are asked for, one after another, and prints what they say.
'use strict'

const NAMES = ['connect', 'introspect', 'types', 'prepared', 'cursor', 'pipeline', 'copy', 'cancel', 'rollback', 'errors']

const env = process.env
exports.url = env.SLUICE_INTEROP_URL
exports.schema = env.SLUICE_INTEROP_SCHEMA
exports.scratch = env.SLUICE_INTEROP_SCRATCH
exports.wanted = (env.SLUICE_INTEROP_CHECKS || NAMES.join()).split(',')
exports.columns = ['id', 'name', 'price', 'qty', 'big', 'ratio', 'r4', 'ok', 'day', 'at', 'atz', 'uid', 'doc', 'tags', 'raw', 'span', 't', 'note']

// A statement that no engine ends within a minute.
exports.endless = (schema) =>
  `SELECT count(*) FROM ${schema}.series a, ${schema}.series b, ${schema}.series c WHERE (a.n + b.n + c.n) % 11 = 3`

// show renders a value with its kind, the same in each run.
function show(v) {
  if (v === null || v === undefined) return String(v)
  if (typeof v === 'string') return JSON.stringify(v)
  if (typeof v === 'bigint') return v + 'n'
  if (typeof v !== 'object') return String(v)
  if (Buffer.isBuffer(v) || v instanceof Uint8Array) return 'bytes:' + Buffer.from(v).toString('hex')
  if (v instanceof Date) return 'Date:' + (isNaN(v) ? 'invalid' : v.toISOString())
  if (Array.isArray(v)) return '[' + v.map(show).join(', ') + ']'
  const name = v.constructor && v.constructor.name !== 'Object' ? v.constructor.name : ''
  return name + '{' + Object.keys(v).map((k) => k + ': ' + show(v[k])).join(', ') + '}'
}
exports.show = show

const escape = (s) => s.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r')

// describe renders an error: class, SQLSTATE, message.
exports.describe = (e) => {
  const d = e.driverError || e.cause || e
  return `${e.constructor.name} ${d.code || '-'} ${d.message}`
}

// main runs checks, a map from name to async function (say); a string in its place says why there is none.
exports.main = async (checks) => {
  for (const name of NAMES.filter((n) => exports.wanted.includes(n))) {
    const say = (...detail) => console.log(name + '\t' + escape(detail.map((d) => (typeof d === 'string' ? d : show(d))).join(' ')))
    if (typeof checks[name] === 'string') {
      say('n/a ' + checks[name])
      continue
    }
    try {
      await checks[name](say)
    } catch (e) {
      say('FAIL ' + exports.describe(e))
      if (env.SLUICE_INTEROP_TRACE) console.error(e)
    }
  }
}

// failing says how a statement fails; one that does not is an error.
exports.failing = async (say, what, run) => {
  let got
  try {
    got = await run()
  } catch (e) {
    say(what, exports.describe(e))
    return
  }
  say(what, 'did not fail', got)
}

// until repeats a cancel until the statement has ended: one that comes before the statement hits nothing.
exports.until = async (running, cancel) => {
  let ended = false
  const end = running.finally(() => { ended = true })
  end.catch(() => {})
  const attempts = (async () => {
    while (!ended) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      if (!ended) await cancel()
    }
  })()
  try {
    return await end
  } finally {
    await attempts
  }
}
