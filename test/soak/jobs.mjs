// Kills Baton, the client or both at random moments of jobs and resumes the jobs each time.
// node test/soak/jobs.mjs [--runs N] [--kills N] [--steps N] [--lanes N] [--seed N] [--runtime
// cli|sdk] [--briefs listed|never]

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pause } from '../../bench/machine.mjs'
import { faultsOf } from './job-faults.mjs'
import { dice, jobMachine, untilTrue } from './job-machine.mjs'
import { end, prove } from './prove.mjs'
import { startStepModel } from './step-model.mjs'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    kills: { type: 'string', default: '10' },
    steps: { type: 'string', default: '24' },
    lanes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runtime: { type: 'string' },
    briefs: { type: 'string', default: 'listed' },
  },
})
const [RUNS, KILLS, STEPS, LANES, SEED] = ['runs', 'kills', 'steps', 'lanes', 'seed'].map((name) =>
  Number(values[name]),
)
/** Time limit of one job, including all kills. */
const LONGEST_MS = 240_000

const yaml = (runtime) => `
agents:
  - name: climber
    prompt: Do all steps.
    model: claude-opus-4-6
    permission_mode: bypassPermissions
    runtime: ${runtime}
    max_handoffs: 40
    workspace: { strategy: git_worktree }
    checks: ["touch $PLACE/checking; sleep 0.4; grep -qx ${STEPS} steps"]
    hooks:
      on_session_start: [{ type: shell, command: "touch $PLACE/starting; sleep 0.2; echo Words of a hook." }]
      on_context_threshold: [{ type: shell, command: "touch $PLACE/full; sleep 0.2; echo handoff" }]
`

const killed = { Baton: 0, client: 0, both: 0 }
const moments = {}

async function oneRun(number) {
  const runtime = values.runtime ?? (number % 2 === 0 ? 'cli' : 'sdk')
  const random = dice(SEED * 1000 + number)
  const model = await startStepModel({ steps: STEPS, briefs: values.briefs })
  const machine = jobMachine('jobs', model.url, yaml(runtime))
  const PLACE = machine.dir
  const start = (...args) => machine.baton([...args, '--json'], { PLACE })
  const until = Date.now() + LONGEST_MS
  const troubles = []
  const story = []
  let running = start('run', 'climber')
  let kills = 0
  let revived = 0

  const briefs = () => model.log().filter(({ given, answered }) => given.brief && !answered).length
  let [asked, done] = [0, 0]
  const written = () => {
    const trees = join(machine.project, '.worktrees')
    const file = existsSync(trees)
      ? readdirSync(trees)
          .map((name) => join(trees, name, 'steps'))
          .find(existsSync)
      : undefined
    return file === undefined ? 0 : statSync(file).size
  }
  const made = () => existsSync(join(machine.project, '.worktrees'))
  const marked = (name) => () => existsSync(join(PLACE, name))
  const MOMENTS = [
    ...Array.from({ length: 3 }, () => ['any time', () => model.log().length > asked, 2_500]),
    // The client writes its transcript about 0.1 s late.
    ...Array.from({ length: 3 }, () => ['the end of a step', () => written() > done, 120]),
    ['its start', null, 1_500],
    ['a hook of the start', marked('starting'), 250],
    ['a hook of the handoff', marked('full'), 250],
    ['the brief', () => briefs() > 0, 400],
  ]
  const [WORKTREE, CHECK] = [
    ['the worktree', made, 60],
    ['a check', marked('checking'), 500],
  ]

  /** Waits for the moment of a kill. False when the command ended before it. */
  async function moment() {
    // The first kill often hits the creation of the worktree, the last one the checks.
    const last = kills === KILLS - 1 && random.roll() < 0.6
    const [name, holds, most] = kills === 0 && random.roll() < 0.5 ? WORKTREE : last ? CHECK : random.one(MOMENTS)
    const patience = last ? 120_000 : 8_000
    const marks = ['starting', 'full', 'checking'].map((mark) => join(PLACE, mark))
    if (holds !== null) execFileSync('rm', ['-f', ...marks])
    ;[asked, done] = [model.log().length, written()]
    if (holds !== null) await untilTrue(() => running.over || holds(), patience, 5)
    const at = Date.now() + random.upTo(most)
    while (Date.now() < at && !running.over) await pause(3)
    moments[name] = (moments[name] ?? 0) + 1
    return { there: !running.over, name }
  }

  let ended = null
  while (Date.now() < until) {
    if (kills < KILLS) {
      const { there, name } = await moment()
      if (there) {
        kills++
        const clients = machine.clients()
        const who = clients.length === 0 ? 'Baton' : random.one(['Baton', 'client', 'both'])
        killed[who]++
        story.push(`${who} at ${name}`)
        if (who !== 'client') running.kill('SIGKILL')
        if (who !== 'Baton') for (const { pid } of clients) tryKill(pid)
        if (who === 'client') continue
        await running.done
        await pause(random.upTo(random.roll() < 0.5 ? 30 : 600))
        running = start('jobs', 'resume')
        continue
      }
    }
    ended = await Promise.race([running.done, pause(Math.max(0, until - Date.now())).then(() => null)])
    if (ended === null) break
    const jobs = await machine.jobs()
    if (jobs.length > 1) troubles.push(`${jobs.length} jobs`)
    const job = jobs[0]
    // Baton was killed before it stored or reported a job, so start again.
    if (job === undefined) running = start('run', 'climber')
    else if (job.status === 'failed' && /tried 5 times/.test(job.detail ?? '') && revived++ < 3)
      running = start('jobs', 'resume', job.job_id)
    else if (job.status === 'completed' || job.status === 'failed') break
    else running = start('jobs', 'resume')
  }

  const job = (await machine.jobs())[0]
  if (ended === null) {
    running.kill('SIGTERM')
    await running.done
  }
  if (ended === null) troubles.push(`not over after ${LONGEST_MS / 1000} s: ${job?.status}, ${job?.detail}`)
  if (job?.status !== 'completed') troubles.push(`it is ${job?.status}: ${job?.detail} ${ended?.stderr ?? ''}`)
  const gone = await untilTrue(() => machine.running().length === 0, 5_000)
  if (!gone)
    troubles.push(
      `left running: ${machine
        .running()
        .map(({ args }) => args)
        .join('; ')}`,
    )
  let judged = { named: 0, requests: 0 }
  if (job) {
    const folder = job.worktree_path ?? ''
    if (!existsSync(folder)) troubles.push(`the worktree ${folder} is gone`)
    const listed = execFileSync('git', ['-C', machine.project, 'worktree', 'list', '--porcelain'], {
      env: machine.env,
      encoding: 'utf8',
    })
    const trees = listed.split('\n').filter((line) => line.startsWith('worktree ')).length
    const files = join(machine.batonHome, 'jobs', job.job_id)
    judged = faultsOf({ job, folder, files, steps: STEPS, home: machine.home, log: model.log() })
    troubles.push(...judged.faults)
    judged.trees = trees - 1
  }
  const figures = { kills, handoffs: job?.handoffs, requests: judged.requests, named: judged.named, revived }
  console.log(`  run ${number} (${runtime}): ${JSON.stringify({ ...figures, worktrees: judged.trees })}`)
  for (const trouble of troubles.slice(0, 6)) console.log(`    FAULT ${trouble}`)
  if (troubles.length > 0) console.log(`    killed: ${story.join(', ')}`)
  if (!gone) for (const { pid } of machine.running()) tryKill(pid)
  await model.close()
  if (troubles.length > 0 && process.env.KEEP)
    execFileSync('cp', ['-a', machine.dir, `${process.env.KEEP}/run-${number}`])
  machine.remove()
  return { troubles: troubles.map((trouble) => `run ${number} (${runtime}): ${trouble}`), kills, revived, ...judged }
}

function tryKill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process had just ended.
  }
}

console.log(`jobs: ${RUNS} runs of ${STEPS} steps, ${KILLS} kills each, briefs ${values.briefs}, seed ${SEED}`)
const results = []
let next = 0
await Promise.all(
  Array.from({ length: Math.min(LANES, RUNS) }, async () => {
    while (next < RUNS) results.push(await oneRun(next++))
  }),
)
const troubles = results.flatMap((one) => one.troubles)
const sum = (of) => results.reduce((total, one) => total + (one[of] ?? 0), 0)
console.log(`  killed ${JSON.stringify(killed)} at ${JSON.stringify(moments)}`)
prove(sum('kills') >= RUNS * KILLS * 0.9, 'the kills happened', `${sum('kills')} of ${RUNS * KILLS}`)
prove(
  troubles.length === 0,
  'every job completed: no step lost, none done twice, nothing said twice, nothing left behind',
  troubles.length === 0
    ? `${sum('requests')} requests, ${sum('named')} of them told of steps that the transcript lacked`
    : troubles.slice(0, 5).join('; '),
)
end()
