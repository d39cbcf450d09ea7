// Opens many pages during a flood of signals and kills their server once.
// node test/soak/page-load.mjs [--clients N] [--browsers N] [--rate N] [--seconds N] [--untimed]
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { quantile } from '../../bench/figures.mjs'
import { makeListeners } from '../../bench/listeners.mjs'
import { prepareLoad } from '../../bench/load.mjs'
import { BATON, makeMachine, pause, start, tokenOf } from '../../bench/machine.mjs'
import { keyOf } from '../../bench/open-page.mjs'
import { statusLine } from '../../bench/samples.mjs'
import { openBrowsers } from './page-browsers.mjs'
import { end, prove } from './prove.mjs'

const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite')
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    browsers: { type: 'string', default: '4' },
    rate: { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '20' },
    untimed: { type: 'boolean', default: false },
  },
})
const [CLIENTS, BROWSERS, RATE, SECONDS] = [values.clients, values.browsers, values.rate, values.seconds].map(Number)
const SESSIONS = 100
const SLOW = Math.max(1, Math.round(CLIENTS / 40))
const BURST = 1_000
/** Signals per second while browsers are measured, as from a large team of busy agents. */
const CALM_RATE = 100
const INTERACTIONS = 12

const machine = makeMachine('page-load')
const db = () => new DatabaseSync(join(machine.batonHome, 'baton.db'))

// With a user-defined token the browsers' keys stay valid after a server restart.
const tokenFile = join(machine.env.HOME, 'baton-token')
writeFileSync(tokenFile, 'a-secret-of-sixteen-characters\n', { mode: 0o600 })

/** Starts the server always on the same port, so that pages reconnect. */
async function serve(port) {
  const child = start(process.execPath, [BATON, 'serve', '--port', String(port), '--token-file', tokenFile, '--json'], {
    env: machine.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve) => child.stdout.once('data', (line) => resolve(JSON.parse(String(line)).url)))
  return { child, pid: child.pid, port: Number(new URL(url).port), url, token: tokenOf(machine) }
}

let server = await serve(0)
const key = await keyOf(machine, server)
// Another process writes to the store too, and its changes must reach the pages.
const store = db()
store.exec('PRAGMA busy_timeout = 10000')
// Like Baton's own processes, do not sync the disk while the store is locked.
store.exec('PRAGMA synchronous = NORMAL')
const insert = store.prepare(
  'INSERT INTO events (type, at, session_id, seat_id, job_id, data) VALUES (?, ?, NULL, NULL, NULL, ?)',
)
const write = (count, size = 10) => {
  store.exec('BEGIN IMMEDIATE')
  const data = JSON.stringify({ words: 'x'.repeat(size) })
  for (let i = 0; i < count; i++) insert.run('guard_tripped', new Date().toISOString(), data)
  store.exec('COMMIT')
}

// Clients that read nothing come first, because otherwise the megabytes meant for them would go to
// all others too.
const slow = makeListeners(server.port, SLOW, key)
await until('the slow ones listen', () => slow.all.every(({ connects }) => connects > 0))
for (const one of slow.all) one.pause()
for (let i = 0; i < 20; i++) {
  write(1, 500_000)
  await pause(60)
}
await pause(2_500)
for (const one of slow.all) one.resume()
await until('the slow ones came back', () => slow.all.every(({ connects }) => connects > 1))

const quick = makeListeners(server.port, CLIENTS - SLOW, key, { measure: true })
const everybody = [...quick.all, ...slow.all]
await until('all listen', () => everybody.every(({ connects }) => connects > 0))
const writer = setInterval(() => write(2), 100)

const folder = join(machine.home, '.claude', 'projects', '-soak')
const load = prepareLoad(machine.dir, {
  sessions: SESSIONS,
  cwd: machine.project,
  folder,
  server,
  kept: true,
})
if (load === null) console.log('page-load: no C compiler (cc) here, so no signals')
const began = Date.now()
const pouring = load ? load.run({ rate: RATE, seconds: SECONDS }) : pause(SECONDS * 1000)
await pause((SECONDS * 1000) / 4)
write(BURST)
const said = await pouring
const seconds = (Date.now() - began) / 1000
const held = memory(server.pid)
const readings = Math.max(...quick.all.flatMap(({ readings }) => [...readings.values()]))
const told = quick.all.reduce((sum, { ids }) => sum + ids.length, 0)
const bytes = quick.all.reduce((sum, one) => sum + one.bytes, 0) / quick.all.length / seconds
const [p50, p99] = [0.5, 0.99].map((q) => quantile(quick.latency, q))

// Browsers come later at a lower rate, because two cores cannot serve them and 3000 signals per
// second. User actions and bursts must be shown at once.
if (!load) await Promise.all(Array.from({ length: 20 }, (_, n) => beginSession(n)))
const browsers = BROWSERS > 0 ? await openBrowsers(machine, server, BROWSERS) : null
if (browsers === null) console.log('page-load: no browser among those who listen')
const steadyLoad = browsers && load?.run({ rate: CALM_RATE, seconds: Math.min(15, SECONDS) })
const acts = browsers ? await browsers.interact(INTERACTIONS) : []
if (browsers) {
  write(BURST)
  acts.push(...(await browsers.interact(BROWSERS)))
}
await steadyLoad

server.child.kill('SIGKILL')
await pause(500)
write(50)
server = await serve(server.port)
await until('all came back', () => everybody.every(({ connects, drops }) => drops > 0 && connects > drops))
write(50)
clearInterval(writer)
const ids = store
  .prepare("SELECT id FROM events WHERE type <> 'reading' AND id > 0 ORDER BY id")
  .all()
  .map(({ id }) => id)
const last = ids.at(-1)
await until('the last event', () => everybody.every((one) => one.ids.includes(last)))
const agreed = browsers ? await agreement() : null
await browsers?.stop()
quick.stop()
slow.stop()
server.child.kill('SIGTERM')
await new Promise((resolve) => server.child.once('exit', resolve))
store.close()

const rate = load ? `${Math.round(said.answered_rate)} signals a second (p99 ${said.p99.toFixed(0)} ms), ` : ''
console.log(
  `page-load: ${rate}${CLIENTS} listeners, ${told} messages that are no readings, ${Math.round(bytes / 1024)} kB/s ` +
    'each',
)
const lost = everybody.map((one) => ids.filter((id) => id > one.from && !new Set(one.ids).has(id)).length)
const twice = everybody.filter(
  (one) => new Set([...one.ids, ...one.readingIds]).size < one.ids.length + one.readingIds.length,
)
prove(
  lost.every((n) => n === 0),
  'no listener lost an event that is no reading',
  `${Math.max(...lost)} at most, of ${ids.length}`,
)
prove(twice.length === 0, 'none was told anything twice', `${twice.length} were`)
prove(
  everybody.every(({ gaps }) => gaps === 0),
  'nobody had too much to catch up with',
)
prove(readings <= 5 * seconds + 2, 'at most five readings a second of a session', `${(readings / seconds).toFixed(1)}`)
prove(
  slow.all.every(({ drops }) => drops > 1),
  'those who took nothing were dropped, and came back',
)
prove(
  quick.all.every(({ drops }) => drops === 1),
  'nobody else was',
)
if (browsers) {
  prove(agreed, 'browsers came back by themselves, and show what the server tells')
  prove(browsers.faults.length === 0, 'no page had a fault', browsers.faults[0] ?? '')
}
if (load) prove(said.wrong + said.refused + said.unanswered === 0, 'every signal was answered')
if (!values.untimed) {
  prove(p99 < 300, 'from what happened to the page', `median ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms`)
  const [usual, most] = [0.5, 0.95].map((q) => quantile(acts, q))
  if (browsers)
    prove(
      usual < 100,
      `what a person does is shown at once (${acts.length} acts in ${BROWSERS} browsers)`,
      `median ${Math.round(usual)} ms, 95% within ${Math.round(most)} ms`,
    )
  prove(held < 250, "the server's memory stays below 250 MB", `${Math.round(held)} MB at most`)
  if (load)
    prove(
      said.answered_rate > RATE * 0.98,
      'signals are taken as fast as they come',
      `${Math.round(said.answered_rate)} of ${RATE} a second`,
    )
}
machine.remove()
end()

function authorized() {
  return { Authorization: `Bearer ${server.token}` }
}

/** Returns one session from the server, without the load generator. */
function beginSession(n) {
  const session = { sessionId: `seat-${n}`, cwd: machine.project, transcript: join(folder, `seat-${n}.jsonl`) }
  const body = statusLine({ ...session, used: 20_000 + 1_000 * n, duration: 1_000 })
  return fetch(`${server.url}/signals/claude-code/status-line`, { method: 'POST', headers: authorized(), body })
}

/** True if every browser shows the same rows with the server's figures. */
async function agreement() {
  for (const stop = Date.now() + 15_000; Date.now() < stop; await pause(200)) {
    const { sessions } = await (await fetch(`${server.url}/api/sessions`, { headers: authorized() })).json()
    const figures = new Map(sessions.map((one) => [one.session_id, String(one.used_tokens)]))
    const shown = await browsers.shown()
    const isSo = ([id, figure]) => figure.split(' of ')[0].replaceAll(/\D/g, '') === figures.get(id)
    if (
      shown.every((rows) => rows.length > 0 && rows.every(isSo)) &&
      (await browsers.status()).every((one) => one === 'live')
    )
      return true
  }
  return false
}

/** Returns the peak memory of a process in MB. */
function memory(pid) {
  if (process.platform !== 'linux') return Number.NaN
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

async function until(what, holds, ms = 60_000) {
  const stop = Date.now() + ms
  while (!holds()) {
    if (Date.now() > stop) {
      prove(false, what)
      end()
    }
    await pause(50)
  }
}
