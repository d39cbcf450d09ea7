// Sends signals to one server for a minute.
// node test/soak/load.mjs [--rate N] [--seconds N]
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareLoad } from '../../bench/load.mjs'
import { makeMachine } from '../../bench/machine.mjs'
import { end, prove } from './prove.mjs'
import { lookInto } from './store.mjs'

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '5000' }, seconds: { type: 'string', default: '60' } },
})
const SESSIONS = 1_000
const MB = 1024 * 1024

const machine = makeMachine('load')
const server = await machine.serve()
const folder = join(machine.home, '.claude', 'projects', '-soak')
const load = prepareLoad(machine.dir, {
  sessions: SESSIONS,
  cwd: machine.project,
  folder,
  server,
  growing: true,
})
if (load === null) {
  console.log('load: left out, no C compiler (cc) here')
  await server.stop()
  machine.remove()
  end()
}
const field = (name) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024
const held = []
const timer = setInterval(() => held.push(field('VmRSS')), 1_000)
const said = await load.run({ rate: Number(values.rate), seconds: Number(values.seconds) })
clearInterval(timer)
const most = field('VmHWM')
const log = statSync(join(machine.batonHome, 'baton.db-wal')).size / MB
await server.stop()
console.log(
  `load: ${said.sent} signals of ${SESSIONS} sessions in ${values.seconds} s, ${Math.round(said.answered_rate)} a ` +
    `second, p99 ${said.p99.toFixed(0)} ms`,
)
prove(
  said.wrong + said.refused + said.unanswered === 0,
  'every signal was answered',
  `${said.wrong} wrong, ${said.refused} refused, ${said.unanswered} open`,
)
prove(most < 150, 'memory stays below 150 MB', `${Math.round(most)} MB at most`)
const half = Math.floor(held.length / 2)
const early = Math.max(...held.slice(2, half))
const late = Math.max(...held.slice(half))
prove(late < early * 1.2, 'and does not grow with time', `${Math.round(early)} MB, then ${Math.round(late)} MB`)
prove(log < 128, "the store's log is bounded", `${Math.round(log)} MB`)
const store = lookInto(machine.batonHome)
prove(store.integrity === 'ok', 'the store is whole', store.integrity)
prove(
  store.taken.length === said.answered,
  'every answered signal is kept',
  `${store.taken.length} of ${said.answered}`,
)
prove(store.sessions.length === SESSIONS, 'of every session', `${store.sessions.length}`)
machine.remove()
end()
