import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, quantile, row, shuffled } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { has, makeMachine, pause } from './machine.mjs'
import { openTerminal, until } from './terminal.mjs'

export const about =
  'from the end of the turn to the first request of the fresh session, against the client’s own /clear and a prompt'

const LONGEST_MS = 600_000
/** Upper bound in milliseconds that a handoff may add to the client's own /clear. */
const MOST_MS = 1_000

const VARIANTS = [
  { name: 'mod, server', mod: true, server: true },
  { name: 'mod, no server', mod: true, server: false },
  { name: 'tmux, server', mod: false, server: true },
  { name: 'tmux, no server', mod: false, server: false },
]

const BRIEF = `# Handoff brief

## Goal and why
Note every item of the list, because the shop opens on Monday.

## Next exact step
Note item 3.

## Last user request
> Work through the list.
`

/** Milliseconds that the scripted agent takes to write its brief. */
const SCRIPT = {
  steps: [
    { read: 'README.md', used: 60_008 },
    { read: 'README.md', used: 150_008 },
    { read: 'README.md', used: 151_008 },
    { text: BRIEF, used: 152_008, delay_ms: 3_000 },
  ],
  conversations: [
    { when: 'Continue the work', steps: [{ text: 'Item 3 is noted.', used: 21_008 }] },
    { when: 'Other work', steps: [{ text: 'Done.', used: 21_008 }] },
  ],
}

/**
 * Runs sessions of the real client one after the other, in a new random order each round. Times
 * come from the scripted model's log.
 */
export async function run({ quick, note }) {
  if (!has('tmux')) {
    note('  needs tmux')
    return []
  }
  const { startModel } = await import(await bundleSource(['model/model.ts']))
  const until = Date.now() + LONGEST_MS
  const times = new Map(VARIANTS.map(({ name }) => [name, { handoff: [], own: [] }]))
  const rounds = quick ? 2 : 7
  for (let round = 0; round < rounds; round++) {
    for (const variant of shuffled(VARIANTS)) {
      if (Date.now() > until) throw new Error('the machine is too slow for this measurement; try --quick')
      const { handoff, own } = await play(startModel, variant)
      times.get(variant.name).handoff.push(handoff)
      times.get(variant.name).own.push(own)
    }
    note(`  round ${round + 1} of ${rounds}`)
  }
  return VARIANTS.flatMap(({ name }) => judge(name, times.get(name)))
}

async function play(startModel, { mod, server: served }) {
  const model = await startModel({ script: SCRIPT })
  const machine = makeMachine('handoff', { mod })
  writeFileSync(join(machine.batonHome, 'config.yaml'), 'handoff: { bar: 0.3 }\n')
  const server = served ? await machine.serve() : null
  const terminal = await openTerminal(machine, model.url).catch((error) => error)
  try {
    if (terminal instanceof Error) throw terminal
    const handoff = await handOver(model, terminal)
    await until('the fresh session is idle', terminal.isIdle)
    await pause(1_000)
    return { handoff, own: await clearByHand(model, terminal) }
  } finally {
    if (!(terminal instanceof Error)) await terminal.close()
    await server?.stop()
    await model.close()
    // The client starts its last hooks when it exits, so they may outlive it.
    await pause(1_500)
    await until('nothing is at work any more', () => isRemoved(machine), 20_000, 200)
  }
}

/** Waits for background processes of the last hooks, which may still write. */
function isRemoved(machine) {
  try {
    machine.remove()
    return true
  } catch {
    return false
  }
}

const requests = (model, session) =>
  model.log().filter((entry) => entry.kind === 'main' && entry.session_id === session)

async function handOver(model, terminal) {
  const old = terminal.session()
  await terminal.type('Work through the list.')
  await terminal.enter()
  const fresh = await until('a fresh session', () => terminal.session() !== old && terminal.session())
  const [first] = await until('its first request', () => requests(model, fresh).length > 0 && requests(model, fresh))
  return Date.parse(first.at) - Date.parse(requests(model, old).at(-1).ended_at)
}

/**
 * Measures an ideal user: from Enter on `/clear` to the request of a prompt typed at the earliest
 * moment.
 */
async function clearByHand(model, terminal) {
  const old = terminal.session()
  await terminal.type('/clear')
  await until('the command is chosen', async () => /❯.\/clear/.test(await terminal.screen()))
  await pause(300)
  const began = Date.now()
  await terminal.enter()
  const fresh = await until('a fresh session', () => terminal.session() !== old && terminal.session(), 20_000, 2)
  await terminal.type('Other work')
  await terminal.enter()
  const [first] = await until('its first request', () => requests(model, fresh).length > 0 && requests(model, fresh))
  return Date.parse(first.at) - began
}

function judge(name, { handoff, own }) {
  const p90 = (values) => quantile(values, 0.9)
  return [
    row(`${name}: /clear and a prompt by hand`, median(own), { n: own.length, p90: p90(own) }),
    row(`${name}: a handoff adds`, median(handoff) - median(own), {
      bound: MOST_MS,
      n: handoff.length,
      p90: p90(handoff) - p90(own),
      note: `${Math.round(median(handoff))} ms in all`,
    }),
  ]
}
