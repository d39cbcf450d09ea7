import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { quantile, row } from './figures.mjs'
import { makeListeners } from './listeners.mjs'
import { prepareLoad } from './load.mjs'
import { has, makeMachine, pause } from './machine.mjs'

export const about = 'signals into the running server while pages listen: 3,000 a second of 100 sessions, 200 listeners'

const [SESSIONS, RATE, LISTENERS] = [100, 3_000, 200]

export async function run({ quick, note }) {
  const seconds = quick ? 4 : 15
  const pinned = has('taskset') && cpus().length > 1
  const rows = []
  for (const [count, kept] of [
    [0, false],
    [0, true],
    [LISTENERS, false],
    [LISTENERS, true],
  ]) {
    const said = await listen({ seconds, pinned, count, kept })
    if (said === null) {
      note('  the generator needs a C compiler (cc): left out')
      return []
    }
    rows.push(...judge(said, { count, seconds, kept }))
  }
  return rows
}

async function listen({ seconds, pinned, count, kept }) {
  const machine = makeMachine('live')
  const server = await machine.serve(pinned ? ['taskset', '-c', '0'] : [])
  const listeners = makeListeners(server.port, count, server.token, { measure: true })
  try {
    const folder = join(machine.home, '.claude', 'projects', '-bench')
    const load = prepareLoad(machine.dir, { sessions: SESSIONS, cwd: machine.project, folder, server, kept })
    if (load === null) return null
    const prefix = pinned ? ['taskset', '-c', '1'] : []
    await load.run({ rate: 500, seconds: 1, prefix })
    await pause(500)
    listeners.latency.length = 0
    const before = processorOf(server.pid)
    const starting = setInterval(() => void begin(server, machine.project), 100)
    const said = await load.run({ rate: RATE, seconds, prefix })
    clearInterval(starting)
    await pause(500)
    const status = readStatus(server.pid)
    return { ...said, listeners, server: (processorOf(server.pid) - before) / seconds, memory: status }
  } finally {
    listeners.stop()
    await server.stop()
    machine.remove()
  }
}

/** Starts a session, which is an event that no listener may miss. */
function begin({ url, token }, cwd) {
  const body = { session_id: crypto.randomUUID(), cwd, hook_event_name: 'SessionStart', source: 'startup' }
  return fetch(`${url}/signals/claude-code/SessionStart`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  }).catch(() => {})
}

function judge(said, { count, seconds, kept }) {
  const who = `${count} listen, ${kept ? 'connections kept' : 'one connection each'}`
  const cores = `server ${Math.round(said.server * 100)}% of a core`
  const rows = [
    row(`${who}: answered after commit`, said.answered_rate, {
      unit: '/s',
      bound: 0.98 * RATE,
      rule: `${RATE}/s offered`,
      least: true,
      n: said.answered,
      note: cores,
    }),
    row(`${who}: slowest of a hundred answers`, said.p99, { note: `median ${said.p50.toFixed(1)} ms` }),
  ]
  if (count === 0) return rows
  const { all, latency } = said.listeners
  const most = Math.max(0, ...all.flatMap(({ readings }) => [...readings.values()])) / (seconds + 2)
  return [
    ...rows,
    row(`${who}: from what happened to the page`, quantile(latency, 0.99), {
      bound: 300,
      rule: 'p99',
      n: latency.length,
      note: `median ${Math.round(quantile(latency, 0.5))} ms`,
    }),
    row(`${who}: readings of a session`, most, { unit: '/s', bound: 5, rule: 'each listener' }),
    row(`${who}: memory`, said.memory, { unit: 'MB', bound: 250, rule: 'highest' }),
  ]
}

/** Returns the processor time so far in seconds. */
function processorOf(pid) {
  if (process.platform !== 'linux') return Number.NaN
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / Number(execFileSync('getconf', ['CLK_TCK']))
}

/** Returns the peak memory in MB. */
function readStatus(pid) {
  if (process.platform !== 'linux') return Number.NaN
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}
