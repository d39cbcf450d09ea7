// Runs jobs of forty steps with the real client, through both runtimes and on every window size.
// node test/soak/jobs-climb.mjs
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundleSource } from '../../bench/from-source.mjs'
import { BATON, clientBinary, makeMachine, start } from '../../bench/machine.mjs'
import { clientEnvironment } from '../../bench/run-client.mjs'
import { end, prove } from './prove.mjs'

const STEPS = 40
const WINDOWS = [
  { model: 'claude-opus-4-6', about: '200k, compacts by itself', grow: 15_000 },
  { model: 'claude-sonnet-4-5', about: '200k, compacts when refused', grow: 15_000 },
  { model: 'claude-opus-4-8', about: '1M, compacts by itself', grow: 40_000 },
  { model: 'claude-sonnet-4-5[1m]', about: '1M, compacts when refused', grow: 40_000 },
]

const { startModel, countOccurrences, visibleTexts, climb } = await import(
  await bundleSource(['model/model.ts', 'model/log.ts', '../test/client/climb-script.ts'])
)

for (const runtime of ['cli', 'sdk']) for (const one of WINDOWS) await look(runtime, one)
end()

async function look(runtime, { model: name, about, grow }) {
  const what = `${runtime}, ${about}`
  const model = await startModel({ script: climb({ steps: STEPS, grow }), keepBytes: 1 << 30 })
  const machine = makeMachine('jobs-climb', { install: false })
  const env = { ...machine.env, ...clientEnvironment(model.url) }
  env.PATH = `${dirname(clientBinary())}:${env.PATH}`
  const { code, job } = await runJob(machine, env, runtime, name)
  const wanted = Array.from({ length: STEPS }, (_, index) => String(index + 1)).join(' ')
  const file = join(machine.project, 'steps')
  const done = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').join(' ') : ''
  const requests = model.log().filter(({ kind }) => kind === 'main')
  const sessions = [...new Set(requests.map((entry) => entry.session_id))]
  const firsts = sessions.map((id) => requests.find((entry) => entry.session_id === id))
  prove(code === 0 && job.status === 'completed', `${what}: completed`, `exit ${code}, ${job.detail ?? job.status}`)
  prove(done === wanted, `${what}: every step once`, done === wanted ? '' : done)
  prove(
    job.handoffs > 0 && sessions.length === job.handoffs + 1,
    `${what}: a fresh session for each handoff`,
    `${job.handoffs} handoffs`,
  )
  prove(
    firsts.every((entry, at) => holds(entry, 'Do all steps.') && (at === 0 || holds(entry, 'All steps, each once'))),
    `${what}: each session begins with the task and the brief`,
  )
  prove(
    requests.length === STEPS + 1 + job.handoffs,
    `${what}: one request more for each handoff`,
    `${requests.length} in all`,
  )
  prove(
    !requests.some((entry) => countOccurrences(entry, 'These calls were made') > 0),
    `${what}: nothing is told twice`,
  )
  prove(!model.log().some(({ kind }) => kind === 'compaction') && job.compactions === 0, `${what}: no compaction`)
  await model.close()
  machine.remove()
}

function holds(entry, text) {
  return visibleTexts(entry).some((one) => one.includes(text))
}

function runJob(machine, env, runtime, model) {
  const flags = ['--model', model, '--permission-mode', 'bypassPermissions', '--runtime', runtime, '--json']
  const child = start(process.execPath, [BATON, 'run', '--prompt', 'Do all steps.', ...flags], {
    cwd: machine.project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, job: JSON.parse(said || '{}') }))
  })
}
