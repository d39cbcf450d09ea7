import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, quantile, row, shuffled } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { makeMachine, pause } from './machine.mjs'
import { runClient } from './run-client.mjs'
import { prose } from './samples.mjs'

export const about = 'what hooks add to each tool batch in the real client, against none'

const LONGEST_MS = 600_000
const CALLS = 15

const NOTHING = { PostToolBatch: [{ hooks: [{ type: 'command', command: ':' }] }] }

/** Variants: with and without a server, with and without the plugin module. */
const VARIANTS = [
  { name: 'no hooks', install: false },
  // The client's own cost of running any hook, and of the module beside it.
  { name: 'a hook that does nothing', install: false, hooks: NOTHING },
  { name: 'mod, and a hook that does nothing', hooks: NOTHING },
  { name: 'server', server: true, bound: 10 },
  { name: 'server, no mod', server: true, mod: false, bound: 10 },
  { name: 'no server', bound: 15 },
  { name: 'no server, no mod', mod: false, bound: 15 },
]

/**
 * Scenarios: small and large tool results far from every level, and a climb through all levels.
 * The model answers at once.
 */
const SCENES = [
  { name: '1 kB results', file: 'small.txt', used: 20_008, grow: 400, delay: 150, judged: true },
  { name: '30 kB results', file: 'large.txt', used: 20_008, grow: 400, delay: 150, judged: true },
  { name: 'levels crossed', file: 'small.txt', used: 60_008, grow: 6_500, delay: 150, part: 0.5 },
  { name: 'instant model', file: 'small.txt', used: 20_008, grow: 400, delay: 0, part: 0.5 },
]

/**
 * Runs sessions of the real client one after the other, in a new random order each round. Times
 * come from the scripted model's log.
 */
export async function run({ quick, note }) {
  const { startModel } = await import(await bundleSource(['model/model.ts']))
  const until = Date.now() + LONGEST_MS
  const cast = await prepare()
  const gaps = new Map()
  const rounds = quick ? 1 : 5
  try {
    for (let round = 0; round < rounds; round++) {
      for (const scene of SCENES) {
        if (round > 0 && round >= Math.ceil(rounds * (scene.part ?? 1))) continue
        for (const actor of shuffled(cast)) {
          if (Date.now() > until) throw new Error('the machine is too slow for this measurement; try --quick')
          const key = `${scene.name}, ${actor.name}`
          gaps.set(key, [...(gaps.get(key) ?? []), ...(await play(startModel, scene, actor))])
        }
      }
      note(`  round ${round + 1} of ${rounds}`)
    }
  } finally {
    for (const actor of cast) {
      await actor.server?.stop()
      actor.machine.remove()
    }
  }
  return SCENES.flatMap((scene) => judge(scene, gaps))
}

async function prepare() {
  const cast = []
  for (const { name, install = true, server = false, mod = true, bound = null, hooks = null } of VARIANTS) {
    const machine = makeMachine('batch', { install, mod })
    if (hooks) setHooks(machine, hooks)
    writeFileSync(join(machine.project, 'small.txt'), `${prose(1_000)}\n`)
    writeFileSync(join(machine.project, 'large.txt'), `${prose(29_000)}\n`)
    cast.push({ name, bound, machine, server: server ? await machine.serve() : null })
  }
  return cast
}

/** Replaces the hooks in the client's settings. */
function setHooks({ home }, hooks) {
  const file = join(home, '.claude', 'settings.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), hooks }))
}

/** Runs one session. Returns the milliseconds from the end of each answer to the next request. */
async function play(startModel, scene, { machine }) {
  const model = await startModel({
    script: {
      steps: [
        { bash: `cat ${scene.file}`, used: scene.used, grow: scene.grow, repeat: CALLS + 1, delay_ms: scene.delay },
        'Done.',
      ],
    },
    // The log stores whole milliseconds. A clock that runs 1,000 times too fast makes them
    // microseconds.
    now: () => performance.now() * 1000,
  })
  try {
    const run = await runClient(machine, model.url)
    if (run.code !== 0) throw new Error(`the client ended with ${run.code}: ${run.stderr}`)
    const main = model.log().filter((entry) => entry.kind === 'main' && entry.outcome === 'answered')
    const times = main.map((entry) => ({
      asked: Date.parse(entry.at) / 1000,
      answered: Date.parse(entry.ended_at) / 1000,
    }))
    if (times.length !== CALLS + 2) throw new Error(`${times.length} requests instead of ${CALLS + 2}`)
    // The first batch includes what the client starts only once, so it does not count.
    return times.slice(2).map((time, i) => time.asked - times[i + 1].answered)
  } finally {
    await model.close()
    // Background processes that a hook started may still run.
    await pause(300)
  }
}

function judge(scene, gaps) {
  const of = (name) => gaps.get(`${scene.name}, ${name}`) ?? []
  const none = of('no hooks')
  const base = median(none)
  return VARIANTS.map(({ name, bound = null }) => {
    const values = of(name)
    if (name === 'no hooks')
      return row(`${scene.name}: no hooks, whole batch`, base, { n: values.length, p90: quantile(values, 0.9) })
    return row(`${scene.name}: ${name} adds`, median(values) - base, {
      bound: scene.judged ? bound : null,
      n: values.length,
      p90: quantile(values, 0.9) - quantile(none, 0.9),
    })
  })
}
