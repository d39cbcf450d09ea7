import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, quantile, row, shuffled } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { BATON, clientBinary, makeMachine, pause, start } from './machine.mjs'
import { clientEnvironment, runClient } from './run-client.mjs'

export const about = 'a job over four sessions against a loop of bare clients with the same sessions, steps and briefs'

const EACH = 10
const PARTS = 4
const CLIENT = 'claude-opus-4-6'
const ANSWER_MS = 200

const BRIEF = (next) =>
  '# Handoff brief\n\n## Goal and why\n\nAll steps, each once, on the branch main. The request: Do all steps.\n\n' +
  `## Next exact step\n\nBegin part ${next}.\n`

const steps = (part) =>
  Array.from({ length: EACH }, (_, index) => ({
    bash: `echo ${(part - 1) * EACH + index + 1} >> steps`,
    used: 20_008 + 15_000 * index,
  }))

/**
 * Scripts of both arms. A bare session gets its part as the prompt and ends with the brief; a
 * job's session is asked for the brief. Both make the same number of requests.
 */
const conversation = (part) => ({
  bare: {
    when: { prompt: `Bare part ${part}.` },
    steps: [...steps(part), part === PARTS ? 'All steps are done.' : BRIEF(part + 1)],
  },
  job: {
    when: { seen: part === 1 ? 'Do all steps.' : `Begin part ${part}.` },
    steps: [...steps(part), 'All steps are done.'],
    replies: [{ when: 'as your whole answer', text: BRIEF(part + 1) }],
  },
})

const parts = Array.from({ length: PARTS }, (_, index) => index + 1)
const SCRIPT = {
  delay_ms: ANSWER_MS,
  // The newest part is matched first, because the prompt of a later session also contains the
  // task.
  conversations: [
    ...parts.map((part) => conversation(part).bare),
    ...parts.toReversed().map((part) => conversation(part).job),
  ],
}

export async function run({ quick, note }) {
  const { startModel } = await import(await bundleSource(['model/model.ts']))
  const runtimes = ['cli', 'sdk']
  const variants = [{ name: 'bare', play: playBare }, ...runtimes.map((name) => ({ name, play: playJob }))]
  const found = new Map(variants.map(({ name }) => [name, []]))
  const rounds = quick ? 2 : 5
  for (let round = 0; round < rounds; round++) {
    for (const { name, play } of shuffled(variants)) {
      const model = await startModel({ script: SCRIPT })
      const machine = makeMachine('jobs', { install: false })
      try {
        found.get(name).push(await play(machine, model, name))
      } finally {
        await model.close()
        await pause(300)
        machine.remove()
      }
    }
    note(`  round ${round + 1} of ${rounds}`)
  }
  return judge(found, runtimes)
}

const mainOf = (model) => model.log().filter(({ kind }) => kind === 'main')

async function playBare(machine, model) {
  const began = Date.now()
  const starts = []
  for (const part of parts) {
    const at = Date.now()
    const before = mainOf(model).length
    const ran = await runClient(machine, model.url, { prompt: `Bare part ${part}.`, model: CLIENT })
    if (ran.code !== 0) throw new Error(`the bare client ended with ${ran.code}: ${ran.stderr}`)
    starts.push(Date.parse(mainOf(model)[before].at) - at)
  }
  prove(machine, model)
  return { wall: Date.now() - began, starts, requests: mainOf(model).length }
}

async function playJob(machine, model, runtime) {
  const env = { ...machine.env, ...clientEnvironment(model.url) }
  env.PATH = `${join(clientBinary(), '..')}:${env.PATH}`
  const flags = ['--model', CLIENT, '--permission-mode', 'bypassPermissions', '--runtime', runtime, '--json']
  const began = Date.now()
  const child = start(process.execPath, [BATON, 'run', '--prompt', 'Do all steps.', ...flags], {
    cwd: machine.project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, ownMegabytes(child.pid))
  }, 100)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  await new Promise((resolve) => child.once('close', resolve))
  clearInterval(watch)
  const wall = Date.now() - began
  const job = JSON.parse(said)
  if (job.status !== 'completed' || job.sessions.length !== PARTS) throw new Error(`the job ended otherwise: ${said}`)
  prove(machine, model)
  const requests = mainOf(model)
  const gaps = requests.flatMap((entry, index) => {
    const before = requests[index - 1]
    return before && before.session_id !== entry.session_id ? [Date.parse(entry.at) - Date.parse(before.ended_at)] : []
  })
  return { wall, gaps, requests: requests.length, first: Date.parse(requests[0].at) - began, peak }
}

/** Checks that each step ran once, with one request per step, one per brief and one for the end. */
function prove(machine, model) {
  const done = readFileSync(join(machine.project, 'steps'), 'utf8').trim().split('\n').map(Number)
  if (done.length !== EACH * PARTS || done.some((step, index) => step !== index + 1)) throw new Error(`steps: ${done}`)
  const compacted = model.log().filter(({ kind }) => kind === 'compaction').length
  if (compacted > 0) throw new Error(`${compacted} compactions`)
}

/** Returns the private memory of the process, without its clients. */
function ownMegabytes(pid) {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Rss:\s+(\d+) kB/m.exec(rollup)[1]) / 1024
  } catch {
    return 0
  }
}

function judge(found, runtimes) {
  const bare = found.get('bare')
  const wall = median(bare.map((one) => one.wall))
  const starts = bare.flatMap((one) => one.starts)
  const own = median(starts)
  const asked = bare[0].requests
  return [
    row('bare clients, the whole loop', wall, { n: bare.length }),
    row('bare client: its start to its first request', own, { n: starts.length, p90: quantile(starts, 0.9) }),
    ...runtimes.flatMap((name) => {
      const jobs = found.get(name)
      const gaps = jobs.flatMap((one) => one.gaps)
      const whole = median(jobs.map((one) => one.wall))
      return [
        row(`${name}: the whole job`, whole / wall, {
          unit: 'x',
          bound: 1.15,
          rule: 'of the bare loop',
          n: jobs.length,
          note: `${Math.round(whole)} ms`,
        }),
        row(`${name}: the brief’s last byte to the next session’s first request`, median(gaps) / own, {
          unit: 'x',
          bound: 1.5,
          rule: 'of a client’s start',
          n: gaps.length,
          p90: quantile(gaps, 0.9) / own,
          note: `${Math.round(median(gaps))} ms`,
        }),
        row(
          `${name}: requests beyond the bare loop’s, which has one for each brief`,
          Math.max(...jobs.map((one) => one.requests)) - asked,
          {
            unit: '',
            bound: 0,
            n: jobs.length,
          },
        ),
        row(`${name}: baton run to the first request`, median(jobs.map((one) => one.first)), { n: jobs.length }),
        row(`${name}: memory of baton run`, Math.max(...jobs.map((one) => one.peak)), {
          unit: 'MB',
          bound: 150,
          n: jobs.length,
        }),
      ]
    }),
  ]
}
