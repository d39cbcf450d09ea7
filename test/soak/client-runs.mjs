// Runs the real client repeatedly, each time through every level.
// node test/soak/client-runs.mjs [--runs N]
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleSource } from '../../bench/from-source.mjs'
import { makeMachine } from '../../bench/machine.mjs'
import { runClient } from '../../bench/run-client.mjs'
import { untilNobody } from './processes.mjs'
import { end, prove } from './prove.mjs'
import { lookInto, repeated } from './store.mjs'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '50' } } })
const runs = Number(values.runs)
const LEVELS = { notice: 83_500, warning: 116_900, handoff: 141_950, critical: 158_650 }
const FIRST = 72_008
const GROW = 5_500

const { startModel, countOccurrences } = await import(await bundleSource(['model/model.ts', 'model/log.ts']))
const model = await startModel({
  // At least three steps follow each level, so that a late warning arrives before the next level.
  script: {
    delay_ms: 60,
    steps: [
      { bash: 'echo {{n}}', used: FIRST, grow: GROW, repeat: 17 },
      { bash: 'echo {{n}}', used: 160_508, grow: 500, repeat: 3 },
      'Done.',
    ],
  },
  keepBytes: 1 << 30,
})
const machines = [
  { name: 'mod, no server', machine: makeMachine('runs') },
  { name: 'no mod, no server', machine: makeMachine('runs', { mod: false }) },
  { name: 'mod, server', machine: makeMachine('runs'), serve: true },
  { name: 'no mod, server', machine: makeMachine('runs', { mod: false }), serve: true },
]
for (const one of machines) if (one.serve) one.server = await one.machine.serve()

const wrong = []
let latest = 0
let began = 0
for (let i = 0; i < runs; i++) {
  const { name, machine } = machines[i % machines.length]
  const before = model.log().length
  const run = await runClient(machine, model.url)
  if (run.code !== 0 || run.stderr !== '' || run.stdout.trim() !== 'Done.')
    wrong.push(`run ${i} (${name}): ended with ${run.code} ${run.stderr}`)
  const requests = model
    .log()
    .slice(before)
    .filter((entry) => entry.kind === 'main')
  began += requests.length
  for (const [level, tokens] of Object.entries(LEVELS)) {
    const told = requests.map((entry) => countOccurrences(entry, `Context level "${level}"`))
    const crossed = Math.ceil((tokens - FIRST) / GROW)
    const first = told.findIndex((count) => count > 0)
    latest = Math.max(latest, first - crossed - 1)
    if (first < 0) wrong.push(`run ${i} (${name}): ${level} was never told`)
    else if (first - crossed > 2) wrong.push(`run ${i} (${name}): ${level} came ${first - crossed} batches late`)
    if (Math.max(...told) > 1) wrong.push(`run ${i} (${name}): ${level} was told ${Math.max(...told)} times`)
  }
}
console.log(`client runs: ${runs} sessions of the real client, ${began} requests, with and without mod and server`)
prove(
  wrong.length === 0,
  'each level was told once in each, at most two batches late',
  wrong.length === 0 ? `at most ${latest + 1}` : wrong.join('; '),
)
for (const { name, machine, server } of machines) {
  await server?.stop()
  const gone = await untilNobody(machine.batonHome, 40_000)
  machine.baton('status', '--json')
  const store = lookInto(machine.batonHome)
  prove(
    gone && store.integrity === 'ok' && repeated(store.crossings).length === 0,
    `${name}: nothing left running, the store whole`,
    `${store.sessions.length} sessions, ${store.readings} readings`,
  )
  rmSync(join(machine.dir, 'tmp'), { recursive: true, force: true })
  machine.remove()
}
await model.close()
end()
