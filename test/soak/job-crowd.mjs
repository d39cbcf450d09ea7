// Runs sixteen jobs in one process: all complete, none waits out of turn, and memory stays bounded.
// node test/soak/job-crowd.mjs [--jobs N] [--steps N]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleSource } from '../../bench/from-source.mjs'
import { pause } from '../../bench/machine.mjs'
import { jobMachine, memoryOf, untilTrue } from './job-machine.mjs'
import { end, prove } from './prove.mjs'
import { startStepModel } from './step-model.mjs'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '16' }, steps: { type: 'string', default: '12' } },
})
const [JOBS, STEPS] = [Number(values.jobs), Number(values.steps)]
const [MOST_ALONE, MOST_MORE] = [150, 20]
const bundle = await import(
  await bundleSource(['engine/open-engine.ts', 'engine/rare-work.ts', 'config/load-config.ts', 'jobs/new-job.ts'])
)
const model = await startStepModel({ steps: STEPS, wait: 0.05 })

const yaml = (limit) => `
limits: { jobs: ${limit} }
agents:
  - name: climber
    prompt: Do all steps.
    model: claude-opus-4-6
    permission_mode: bypassPermissions
    max_handoffs: 10
    workspace: { strategy: git_worktree }
    checks: ["test $(sort -un steps | wc -l) = ${STEPS}"]
  - { name: played, prompt: Do it., runtime: scripted }
`

/** Runs a command to its end and samples its memory meanwhile. */
async function watched(machine, args, env) {
  const running = machine.baton([...args, '--json'], env)
  let most = 0
  while (!running.over) {
    try {
      most = Math.max(most, memoryOf(running.pid).most)
    } catch {
      // The process has just ended.
    }
    await pause(20)
  }
  return { ...(await running.done), most: Math.round(most) }
}

/** Runs one job in a process of its own, to compare its memory with that of many jobs. */
async function alone(machine, agent, flags, env) {
  const first = await watched(machine, ['run', agent, ...flags], env)
  if (first.code !== 0) console.log(first.stdout.slice(-600), first.stderr.slice(-600))
  return first
}
async function together(machine, runtime, env) {
  const app = bundle.openApp({ env: machine.env, loadConfig: bundle.loadConfig, rareWork: () => bundle })
  const { spec } = app.store.jobs().findLast((job) => job.spec.runtime === runtime)
  const ids = []
  for (let n = 0; n < JOBS; n++) {
    const at = new Date(Date.now() + n).toISOString()
    ids.push(bundle.newJob(app.store, { spec, parentSeatId: null, runner: null }, at, app.newId).jobId)
  }
  app.close()
  const run = await watched(machine, ['jobs', 'resume'], env)
  const jobs = (await machine.jobs())
    .filter(({ job_id }) => ids.includes(job_id))
    .sort((a, b) => ids.indexOf(a.job_id) - ids.indexOf(b.job_id))
  if (run.code !== 0)
    console.log(run.stderr.slice(-600), JSON.stringify(jobs.map(({ status, detail }) => [status, detail])))
  return { ...run, jobs }
}

function tell(what, one, many) {
  const each = (many.most - one.most) / (JOBS - 1)
  prove(
    one.code === 0 && one.most < MOST_ALONE,
    `${what}: one job takes less than ${MOST_ALONE} MB of its own`,
    `${one.most} MB`,
  )
  prove(
    many.code === 0 && many.jobs.every(({ status }) => status === 'completed'),
    `${what}: ${JOBS} jobs in one process are completed`,
  )
  prove(
    each < MOST_MORE,
    `${what}: each further one takes less than ${MOST_MORE} MB`,
    `${each.toFixed(1)} MB, ${many.most} MB in all`,
  )
}

/** Returns how many jobs ran at once, from their start and end times. */
function mostAtOnce(jobs) {
  const ran = jobs.map(({ started_at, ended_at }) => [Date.parse(started_at), Date.parse(ended_at)])
  return Math.max(...ran.map(([at]) => ran.filter(([from, to]) => from <= at && at < to).length))
}

/** Returns jobs that started although running and older waiting jobs filled all slots. */
function early(jobs, places) {
  const at = (time) => Date.parse(time)
  return jobs.flatMap(({ job_id, started_at }, n) => {
    const now = at(started_at)
    const older = jobs.slice(0, n).filter((one) => at(one.started_at) > now).length
    const run = jobs.filter(
      (one) => one.job_id !== job_id && at(one.started_at) <= now && now < at(one.ended_at),
    ).length
    return older + run >= places ? [`${job_id}: ${older} older, ${run} ran`] : []
  })
}

const played = jobMachine('crowd', model.url, yaml(4))
const answer = 'x'.repeat(4_000)
const steps = Array.from({ length: 60 }, (_, n) => ({
  calls: [{ input: `step ${n}`, result: answer }],
  used: 20_000 + 1_500 * n,
  delayMs: 20,
}))
const script = join(played.dir, 'script.json')
writeFileSync(
  script,
  JSON.stringify({ sessions: Array.from({ length: JOBS + 1 }, () => [...steps, { text: 'Done.' }]) }),
)
const scripted = await alone(played, 'played', [], { BATON_JOB_SCRIPT: script })
const many = await together(played, 'scripted', { BATON_JOB_SCRIPT: script })
tell('scripted', scripted, many)
prove(mostAtOnce(many.jobs) <= 4, 'as many run at once as may', `${mostAtOnce(many.jobs)} of 4`)
prove(
  early(many.jobs, 4).length === 0,
  'none begins where an older one still needs the place',
  early(many.jobs, 4).join(),
)
played.remove()

const real = jobMachine('crowd', model.url, yaml(JOBS))
for (const runtime of ['cli', 'sdk']) {
  const one = await alone(real, 'climber', ['--runtime', runtime], {})
  const began = Date.now()
  const crowd = await together(real, runtime, {})
  tell(runtime, one, crowd)
  const most = mostAtOnce(crowd.jobs)
  prove(
    most === JOBS,
    `${runtime}: all ${JOBS} run at the same moment`,
    `${most}, in ${Math.round((Date.now() - began) / 1000)} s`,
  )
  const wrong = crowd.jobs.filter(({ worktree_path }) => {
    const path = join(worktree_path ?? '', 'steps')
    const written = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
    return written.length !== STEPS || new Set(written).size !== STEPS
  })
  prove(
    wrong.length === 0,
    `${runtime}: each of ${JOBS * STEPS} steps was done once`,
    wrong.map(({ job_id }) => job_id).join(),
  )
}
prove(
  await untilTrue(() => real.running().length === 0, 10_000),
  'nothing is left running',
  real
    .running()
    .map(({ args }) => args)
    .join(),
)
real.remove()
await model.close()
end()
