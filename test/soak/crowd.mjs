// Lets many processes measure one session at once.
// node test/soak/crowd.mjs [--processes N] [--signals N]
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleSource } from '../../bench/from-source.mjs'
import { makeMachine } from '../../bench/machine.mjs'
import { end, prove } from './prove.mjs'
import { lookInto, repeated } from './store.mjs'

const { values } = parseArgs({
  options: { processes: { type: 'string', default: '20' }, signals: { type: 'string', default: '200' } },
})
const processes = Number(values.processes)
const signals = Number(values.signals)
const SESSION = 'c70d0000-0000-4000-8000-000000000000'
const LEVELS = ['notice', 'warning', 'handoff', 'critical']

const PROGRAM = `const [, , rooms, samples, me, signals, cwd] = process.argv
const rareWork = await import(rooms)
const { openApp, loadConfig } = rareWork
const { statusLine } = await import(samples)
const app = openApp({ env: process.env, loadConfig, rareWork: () => rareWork })
for (let i = 0; i < Number(signals); i++) {
  // All processes climb together; the client's clock decides which figure is newest.
  const used = 20_008 + Math.round((i / (Number(signals) - 1)) * 140_000)
  const duration = 10_000_000 + i * 1000 + Number(me)
  const body = statusLine({ sessionId: '${SESSION}', transcript: null, cwd, used, duration })
  const raw = { agent: 'claude-code', kind: 'status-line', body, env: {}, at: Date.now() }
  app.engine.take(raw, { deliver: 'keep', signalId: '${SESSION}.' + i + '.' + me })
}
app.close()
`

const machine = makeMachine('crowd')
const bundle = await bundleSource(['engine/open-engine.ts', 'engine/rare-work.ts', 'config/load-config.ts'])
const program = join(machine.dir, 'crowd-member.mjs')
writeFileSync(program, PROGRAM)
const samples = new URL('../../bench/samples.mjs', import.meta.url).pathname
const began = performance.now()
const codes = await Promise.all(
  Array.from({ length: processes }, (_, me) => {
    const child = spawn(process.execPath, [program, bundle, samples, String(me), String(signals), machine.project], {
      env: machine.env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    return new Promise((resolve) => child.on('close', resolve))
  }),
)
const seconds = (performance.now() - began) / 1000
console.log(`crowd: ${processes} processes x ${signals} signals for one session in ${seconds.toFixed(1)} s`)
prove(
  codes.every((code) => code === 0),
  'every process ended well',
  codes.filter((code) => code !== 0).join(),
)
const store = lookInto(machine.batonHome)
prove(store.integrity === 'ok', 'the store is whole', store.integrity)
prove(store.taken.length === processes * signals, 'every signal was taken, each once', `${store.taken.length}`)
prove(
  store.crossings.sort().join() ===
    LEVELS.map((level) => `${SESSION} 1 ${level}`)
      .sort()
      .join(),
  'each level was crossed once',
  `${store.crossings.length} crossings`,
)
prove(repeated(store.warnings).length === 0, 'no level was warned of twice')
prove(
  store.sessions.length === 1 && store.sessions[0].track.used === 160_008,
  'the newest figure stands',
  String(store.sessions[0]?.track.used),
)
machine.remove()
end()
