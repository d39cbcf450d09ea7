import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { interleave, row, rowOf } from './figures.mjs'
import { cleanEnvironment, has, makeMachine, temporary } from './machine.mjs'
import { installPeers } from './peers.mjs'
import { hookEnvironment, statusLine, transcriptStep, writeTranscript } from './samples.mjs'
import { makeStopwatch } from './stopwatch.mjs'

export const about = 'one run of the installed status line, as the client runs it'

const MB = 1024 * 1024
const LONGEST_MS = 240_000
const FORMER = `jq -r '.model.display_name'`

/** A script like those of older monitors: one jq per field, then curl. */
const OLDER = `input=$(cat)
sid=$(printf '%s' "$input" | jq -r '.session_id')
used=$(printf '%s' "$input" | jq -r '.context_window.used_percentage // 0')
tokens=$(printf '%s' "$input" | jq -r '.context_window.total_input_tokens // 0')
size=$(printf '%s' "$input" | jq -r '.context_window.context_window_size // 200000')
model=$(printf '%s' "$input" | jq -r '.model.display_name')
curl -s -m 2 -X POST -H 'Content-Type: application/json' \\
  -d "{\\"session_id\\":\\"$sid\\",\\"used_percentage\\":$used,"\\
"\\"total_input_tokens\\":$tokens,\\"context_window_size\\":$size}" \\
  "http://127.0.0.1:$1/hooks/context-usage" >/dev/null
printf '%s %s%%\\n' "$model" "$used"
`

export async function run({ quick, peers, note }) {
  const rounds = quick ? 12 : 50
  const until = Date.now() + LONGEST_MS
  const dir = temporary('statusline')
  const watch = makeStopwatch(dir)
  const served = makeMachine('served')
  const alone = makeMachine('alone')
  const composed = makeMachine('composed', { settings: { statusLine: { type: 'command', command: FORMER } } })
  const stuck = makeMachine('stuck')
  const servers = [await served.serve(), await composed.serve()]
  try {
    const long = prepareLongSessions(dir)
    const older = join(dir, 'older.sh')
    writeFileSync(older, OLDER)
    const others = peers ? installPeers(dir, note) : []
    const one = measurer(watch)
    const variants = [
      floor(watch, 'sh -c :', ['/bin/sh', '-c', ':']),
      floor(watch, 'node -e 0', [process.execPath, '-e', '0']),
      { name: 'server', run: (n) => one(served, { n }) },
      { name: 'server, 200 kB payload', run: (n) => one(served, { n, extra: 200_000 }) },
      { name: 'server, 300 kB transcript', run: (n) => one(served, { n, session: long.small }) },
      { name: 'server, 200 MB transcript', run: (n) => one(served, { n, session: long.large }) },
      {
        name: 'server, 300 kB transcript, first sight',
        run: (n) => one(served, { n, session: long.small, fresh: true }),
      },
      {
        name: 'server, 200 MB transcript, first sight',
        run: (n) => one(served, { n, session: long.large, fresh: true }),
      },
      { name: 'former line alone', run: (n) => one(composed, { n, command: FORMER }) },
      { name: 'server, former line composed', run: (n) => one(composed, { n }) },
      { name: 'no server', run: (n) => one(alone, { n }) },
      { name: 'no server, 200 kB payload', run: (n) => one(alone, { n, extra: 200_000 }) },
      { name: 'no server, 300 kB transcript', run: (n) => one(alone, { n, session: long.small }) },
      { name: 'no server, 200 MB transcript', run: (n) => one(alone, { n, session: long.large }) },
      {
        name: 'no server, 200 MB transcript, first sight',
        run: (n) => one(alone, { n, session: long.large, fresh: true }),
      },
      ...(has('jq') && has('curl')
        ? [
            {
              name: 'older monitor (bash, 5 jq, curl)',
              run: (n) => one(served, { n, session: long.large, command: `bash ${older} ${servers[0].port}` }),
            },
          ]
        : []),
    ]
    const samples = await interleave(variants, { rounds, until })
    const slow = others.flatMap((peer) =>
      ['small', 'large'].map((which) => ({
        name: `${peer.name}, ${which === 'small' ? '300 kB' : '200 MB'} transcript`,
        run: (n) => one(alone, { n, session: long[which], command: peer.command, env: long[which].env }),
      })),
    )
    const theirs =
      slow.length > 0 ? await interleave(slow, { rounds: quick ? 3 : 8, warm: 1, until: until + 60_000 }) : new Map()
    const rows = judge(new Map([...samples, ...theirs]))
    rows.push(...(await unanswered(stuck, one, samples)))
    if (!watch.precise) rows[0].note = 'no C compiler: each figure holds about 1 ms of Node'
    return rows
  } finally {
    for (const server of servers) await server.stop()
    for (const machine of [served, alone, composed, stuck]) machine.remove()
  }
}

const floor = (watch, name, command) => ({
  name,
  run: () => watch.time(command, { env: cleanEnvironment(temporaryHome) }),
})
const temporaryHome = temporary('floor')

/**
 * Prepares one run of a status line: the payload of a new answer, and the transcript extended by
 * that answer.
 */
function measurer(watch) {
  let steps = 0
  return (machine, { n, session = null, extra = 0, command = machine.statusCommand(), fresh = false, env = {} }) => {
    const used = 20_008 + ((steps++ * 37) % 40_000)
    const sessionId = fresh
      ? `fresh-${process.pid}-${steps}`
      : (session?.sessionId ?? 'e0c7f0de-51ab-4c7c-9d8c-6c1c0a0e5d11')
    const transcript = session?.transcript ?? join(machine.home, '.claude', 'projects', '-bench', `${sessionId}.jsonl`)
    if (session)
      appendFileSync(
        transcript,
        transcriptStep({ sessionId, cwd: machine.project, n: 9_000_000 + steps, used, size: 900, at: Date.now() }),
      )
    const run = watch.time(['/bin/sh', '-c', command], {
      env: { ...machine.env, ...hookEnvironment({ sessionId, cwd: machine.project }), ...env },
      payload: statusLine({ sessionId, transcript, cwd: machine.project, used, extra }),
      cwd: machine.project,
    })
    if (run.bytes === 0 && n >= 0) throw new Error(`${command} printed nothing`)
    return run
  }
}

/**
 * Makes two client homes, one with a short and one with a long history, because some monitors read
 * the whole history.
 */
function prepareLongSessions(dir) {
  const make = (name, bytes) => {
    const home = join(dir, name)
    const sessionId = `0a1b2c3d-0000-4000-8000-${String(bytes).padStart(12, '0')}`
    const transcript = join(home, '.claude', 'projects', '-bench', `${sessionId}.jsonl`)
    writeTranscript(transcript, { sessionId, cwd: '/bench', bytes })
    return { sessionId, transcript, env: { HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') } }
  }
  return { small: make('small', 300_000), large: make('large', 200 * MB) }
}

function judge(samples) {
  const ms = (name) => samples.get(name).map((one) => one.ms)
  const mid = (name) => rowOf(name, ms(name)).value
  const sh = mid('sh -c :')
  const node = mid('node -e 0')
  const bounds = {
    server: [4 * sh + 2, '4x sh + 2 ms'],
    'server, 200 kB payload': [2 * mid('server'), '2x small'],
    'server, 200 MB transcript': [1.2 * mid('server, 300 kB transcript'), '1.2x 300 kB'],
    'server, 200 MB transcript, first sight': [1.2 * mid('server, 300 kB transcript, first sight'), '1.2x 300 kB'],
    'server, former line composed': [4 * sh + 2 + mid('former line alone') + 3, '4x sh + 2 ms + former + 3 ms'],
    'no server': [1.7 * node, '1.7x node'],
    'no server, 200 kB payload': [2 * mid('no server'), '2x small'],
    'no server, 200 MB transcript': [1.2 * mid('no server, 300 kB transcript'), '1.2x 300 kB'],
  }
  const ours = mid('server, 200 MB transcript')
  return [...samples.keys()].map((name) => {
    const [bound = null, rule = ''] = bounds[name] ?? []
    const peer = /older|ccstatusline|ccusage/.test(name) && !name.includes('300 kB')
    const cpu = rowOf(
      '',
      samples.get(name).map((one) => one.cpu),
    ).value
    return rowOf(name, ms(name), {
      ...(peer ? { bound: ours, rule: 'slower than ours', least: true } : { bound, rule }),
      note: `${cpu.toFixed(1)} ms cpu`,
    })
  })
}

/**
 * Measures with a server that accepts connections and does not answer. Hooks wait for it once and
 * then avoid it for a minute.
 */
async function unanswered(machine, one, samples) {
  const server = await machine.serve()
  try {
    one(machine, { n: -1 })
    server.kill('SIGSTOP')
    const first = one(machine, { n: 0 }).ms
    const later = Array.from({ length: 12 }, () => one(machine, { n: 0 }).ms)
    const node = rowOf(
      '',
      samples.get('node -e 0').map((s) => s.ms),
    ).value
    return [
      row('server stopped, first run', first, { bound: 1_200, rule: '1.2 s once', n: 1 }),
      rowOf('server stopped, the minute after', later, { bound: 1.7 * node, rule: '1.7x node' }),
    ]
  } finally {
    await server.stop()
  }
}
