// Kills hooks, engines and the server at random moments while sessions climb, then checks the
// store.
// node test/soak/kill-storm.mjs [--kills N] [--seconds N]
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeMachine, pause } from '../../bench/machine.mjs'
import { fakeClient } from './fake-client.mjs'
import { inHome, untilNobody } from './processes.mjs'
import { end, prove } from './prove.mjs'
import { lookInto, repeated } from './store.mjs'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, seconds: { type: 'string', default: '240' } },
})
const wanted = Number(values.kills)
const until = Date.now() + Number(values.seconds) * 1000
const SESSIONS = wanted < 50 ? 2 : 4
const LEVELS = ['notice', 'warning', 'handoff', 'critical']
const TOP = 164_008
const FIRST = 30_008
/** Steps of a session, spread so that it still climbs after the last kill. */
const GROW = wanted < 50 ? 9_000 : 1_500

const machine = makeMachine('storm')
const killed = { launcher: 0, engine: 0, server: 0 }
const total = () => killed.launcher + killed.engine + killed.server
const storming = () => total() < wanted && Date.now() < until
const chance = (part) => Math.random() < part

/** Runs a session batch by batch, as a client does, until its climb is complete. */
async function climb(sessionId) {
  const client = fakeClient(machine, sessionId)
  const runs = []
  for (let used = FIRST; storming() || used < TOP; used = Math.min(TOP, used + GROW)) {
    const size = chance(0.3) ? 20_000 : 800
    const batch = await client.batch({ used, size, killAfter: storming() && chance(0.12) ? Math.random() * 25 : null })
    if (batch.killed) killed.launcher++
    runs.push({ kind: 'PostToolBatch', ...batch })
    if (!chance(0.25)) continue
    const status = await client.status({ used, killAfter: storming() && chance(0.12) ? Math.random() * 60 : null })
    if (status.killed) killed.launcher++
    runs.push({ kind: 'status-line', ...status })
  }
  // Two more undisturbed batches deliver and confirm pending warnings.
  for (let i = 0; i < 2; i++) runs.push({ kind: 'PostToolBatch', ...(await client.batch({ used: TOP, size: 800 })) })
  return { sessionId, runs }
}

/** Starts the server, kills it, pauses, and repeats. */
async function serveNowAndThen() {
  while (storming()) {
    const server = await machine.serve().catch(() => null)
    const stay = Date.now() + 300 + Math.random() * 1_200
    while (storming() && Date.now() < stay) await pause(20)
    if (server && storming()) {
      server.kill('SIGKILL')
      killed.server++
    }
    await server?.stop()
    await pause(Math.random() * 1_500)
  }
}

async function killEngines() {
  while (storming()) {
    await pause(10 + Math.random() * 90)
    const engines = inHome(machine.batonHome).filter(({ kind }) => kind === 'engine')
    const one = engines[Math.floor(Math.random() * engines.length)]
    if (!one || !storming()) continue
    try {
      process.kill(one.pid, 'SIGKILL')
      killed.engine++
    } catch {
      // The process had just ended.
    }
  }
}

const names = Array.from({ length: SESSIONS }, (_, i) => `5708a000-0000-4000-8000-${String(i).padStart(12, '0')}`)
const [climbs] = await Promise.all([Promise.all(names.map(climb)), serveNowAndThen(), killEngines()])
const runs = climbs.flatMap(({ sessionId, runs }) => runs.map((run) => ({ sessionId, ...run })))
console.log(`kill storm: ${runs.length} hooks of ${SESSIONS} sessions; killed ${JSON.stringify(killed)}`)
prove(total() >= wanted, `${wanted} kills happened`, `${total()}`)

prove(await untilNobody(machine.batonHome, 45_000), 'nothing is left running')
machine.baton('status', '--json')
// Half-written files of killed launchers are deleted once they are old.
const spool = join(machine.batonHome, 'spool')
const torn = readdirSync(spool)
for (const name of torn) utimesSync(join(spool, name), new Date(0), new Date(0))
machine.baton('status', '--json')
prove(readdirSync(spool).length === 0, 'the spool is empty', `${torn.length} half-written by killed hooks were dropped`)

const store = lookInto(machine.batonHome)
prove(store.integrity === 'ok', 'the store opens and is whole', store.integrity)

const accepted = runs.filter((run) => run.kind !== 'status-line' && run.code === 0)
const taken = new Map()
for (const id of store.taken) {
  const [session, , , pid, kind] = id.split('.')
  // The file's name shows that the hook answers its own signal.
  const key = `${session} ${pid} ${kind.replace(/-now$/, '')}`
  taken.set(key, (taken.get(key) ?? 0) + 1)
}
const lost = accepted.filter((run) => {
  const key = `${run.sessionId} ${run.pid} ${run.kind}`
  const left = taken.get(key) ?? 0
  taken.set(key, left - 1)
  return left < 1
})
prove(
  lost.length === 0,
  `none of ${accepted.length} accepted signals is lost`,
  lost.length === 0 ? '' : `${lost.length} are`,
)
const unruly = runs.filter((run) => run.signal !== 'SIGKILL' && (run.code !== 0 || run.stderr !== ''))
prove(
  unruly.length === 0,
  'every hook that was not killed ended with 0 and in silence',
  unruly.map((run) => `${run.kind} ${run.code} ${run.stderr}`).join('; '),
)

const crossings = names.flatMap((session) => LEVELS.map((level) => `${session} 1 ${level}`))
prove(
  [...store.crossings].sort().join() === crossings.sort().join(),
  `each of ${SESSIONS} sessions crossed each level once`,
  `${store.crossings.length} of ${crossings.length}`,
)
prove(repeated(store.warnings).length === 0, 'no level was warned of twice', `${store.warnings.length} warnings`)
const heard = runs
  .filter((run) => run.code === 0)
  .flatMap((run) => levelsIn(run.stdout).map((level) => `${run.sessionId} ${level}`))
prove(repeated(heard).length === 0, 'no client heard a level twice', repeated(heard).join(', '))
const silent = names
  .flatMap((session) => LEVELS.map((level) => `${session} ${level}`))
  .filter((one) => !heard.includes(one))
console.log(
  `  heard   ${heard.length} of ${crossings.length} levels; the others were jumped over, or their hook was killed ` +
    `as it spoke (${silent.length})`,
)
machine.remove()
end()

function levelsIn(text) {
  if (!text.startsWith('{')) return []
  const said = JSON.parse(text).hookSpecificOutput?.additionalContext ?? ''
  return LEVELS.filter((level) => said.includes(`Context level "${level}"`))
}
