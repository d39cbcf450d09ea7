import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { row } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { prepareLoad } from './load.mjs'
import { cleanEnvironment, has, makeMachine, temporary } from './machine.mjs'
import { statusLine, toolBatch, transcriptStep } from './samples.mjs'

export const about = 'signals into the running server, one connection each, 1.5 kB, 1,000 sessions'

const SESSIONS = 1_000
const RATE = 5_000

export async function run({ quick, note }) {
  const seconds = quick ? 4 : 15
  const pinned = has('taskset') && cpus().length > 1
  if (!pinned) note('  taskset or a second core is missing: server and generator share')
  const rows = [...(await engineAlone(quick))]
  for (const growing of [false, true]) {
    const said = await load({ seconds, pinned, growing })
    if (said === null) note('  the generator needs a C compiler (cc): left out')
    else rows.push(...judge(growing ? 'transcripts grow: ' : '', said, { judged: !growing, seconds }))
  }
  return rows
}

async function load({ seconds, pinned, growing }) {
  const machine = makeMachine('ingest')
  const server = await machine.serve(pinned ? ['taskset', '-c', '0'] : [])
  try {
    const folder = join(machine.home, '.claude', 'projects', '-bench')
    const generator = prepareLoad(machine.dir, {
      sessions: SESSIONS,
      cwd: machine.project,
      folder,
      server,
      growing,
    })
    if (generator === null) return null
    const prefix = pinned ? ['taskset', '-c', '1'] : []
    // Every session is created before the measurement starts.
    await generator.run({ rate: 1_000, seconds: 2.5, prefix })
    const before = processorOf(server.pid)
    const said = await generator.run({ rate: RATE, seconds, prefix })
    return { ...said, server: (processorOf(server.pid) - before) / said.answered, memory: memoryOf(server.pid) }
  } finally {
    await server.stop()
    machine.remove()
  }
}

function judge(prefix, load, { judged, seconds }) {
  const bound = (value, rule = '') => (judged ? { bound: value, rule } : {})
  const cores =
    `${Math.round(load.server * 1e6)} µs cpu each; generator ${Math.round(load.cpu * 100)}% of its ` +
    `core${load.cpu > 0.9 ? ': it was the limit' : ''}`
  return [
    row(`${prefix}answered after commit`, load.answered_rate, {
      unit: '/s',
      ...bound(0.99 * RATE, `${RATE}/s offered`),
      least: judged,
      n: load.answered,
      note: cores,
    }),
    row(`${prefix}slowest of a hundred`, load.p99, {
      ...bound(50, 'p99'),
      note: `median ${load.p50.toFixed(1)}, slowest ${load.max.toFixed(0)} ms, ${seconds} s`,
    }),
    row(`${prefix}refused or wrong`, load.wrong + load.refused + load.unanswered, { unit: '', ...bound(0) }),
    row(`${prefix}memory`, load.memory, { unit: 'MB', ...bound(150, 'highest'), note: `${SESSIONS} sessions` }),
  ]
}

/** Returns the processor time so far in seconds. */
function processorOf(pid) {
  if (process.platform !== 'linux') return Number.NaN
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / Number(execFileSync('getconf', ['CLK_TCK']))
}

/** Returns the peak memory in MB. */
function memoryOf(pid) {
  if (process.platform !== 'linux') return Number.NaN
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

/**
 * Measures the engine without HTTP: processor time per signal with fifty signals per commit, as on
 * a busy server.
 */
async function engineAlone(quick) {
  const machine = makeMachine('engine')
  const rooms = await bundleSource(['engine/open-engine.ts', 'config/load-config.ts'])
  const dir = temporary('engine')
  const program = join(dir, 'engine-load.mjs')
  writeFileSync(program, PROGRAM)
  const bodies = join(dir, 'bodies.json')
  const one = (i) => ({ sessionId: `${String(i).padStart(8, '0')}-2222-4000-8000-000000000000`, cwd: machine.project })
  const make = (i) => {
    const transcript = join(dir, `${i}.jsonl`)
    writeFileSync(transcript, transcriptStep({ ...one(i), n: i, used: 15_008, size: 900, at: Date.now() }))
    return {
      'status-line': statusLine({ ...one(i), transcript, used: 20_008, duration: 10_000_000 }).padEnd(1_500),
      PostToolBatch: toolBatch({ ...one(i), transcript, n: i, size: 1_000 }).padEnd(1_500),
    }
  }
  writeFileSync(bodies, JSON.stringify(Array.from({ length: SESSIONS }, (_, i) => make(i))))
  try {
    const count = quick ? 20_000 : 60_000
    const said = execFileSync(process.execPath, [program, rooms, bodies, String(count)], {
      env: { ...cleanEnvironment(dir), BATON_HOME: machine.batonHome },
      encoding: 'utf8',
    })
    const { statusLine: line, PostToolBatch: batch, both } = JSON.parse(said)
    return [
      row('engine alone, status lines', line, { unit: 'µs', n: count }),
      row('engine alone, tool batches', batch, { unit: 'µs', n: count }),
      row('engine alone, both in turn', both, {
        unit: 'µs',
        n: count,
        note: `${Math.round(1e6 / both).toLocaleString('en')} signals a second`,
      }),
    ]
  } finally {
    machine.remove()
  }
}

const PROGRAM = `import { readFileSync } from 'node:fs'
const [, , rooms, file, count] = process.argv
const { openApp, loadConfig } = await import(rooms)
const bodies = JSON.parse(readFileSync(file, 'utf8'))
const app = openApp({ env: process.env, loadConfig, resident: true })
let n = 0
const signal = (kind) => {
  const i = n++
  const used = String(20_000 + (Math.floor(i / bodies.length) * 37) % 60_000)
  const body = bodies[i % bodies.length][kind]
    .replace('"cache_read_input_tokens":20000', '"cache_read_input_tokens":' + used)
    .replace('"total_duration_ms":10000000', '"total_duration_ms":' + (10_000_000 + i))
  const raw = { agent: 'claude-code', kind, body, env: { CLAUDE_PID: String(process.pid) }, at: Date.now() }
  const signalId = ['s' + (i % bodies.length), (Date.now() / 1000).toFixed(6), i, kind].join('.')
  return { raw, options: { deliver: kind === 'status-line' ? 'keep' : 'answer', signalId } }
}
const load = (kinds, count) => {
  let cpu = 0
  for (let done = 0; done < count; done += 50) {
    const batch = Array.from({ length: 50 }, (_, i) => signal(kinds[i % kinds.length]))
    const before = process.cpuUsage()
    app.engine.takeAll(batch)
    const used = process.cpuUsage(before)
    cpu += used.user + used.system
  }
  return cpu / count
}
load(['status-line', 'PostToolBatch'], 4000)
const third = Math.floor(Number(count) / 3)
const result = {
  statusLine: load(['status-line'], third),
  PostToolBatch: load(['PostToolBatch'], third),
  both: load(['status-line', 'PostToolBatch'], third),
}
console.log(JSON.stringify(result))
process.exit(0)
`
