// Measures time and memory for the newest answer of a transcript of a gigabyte.
// node test/soak/long-transcript.mjs [--megabytes N]
import { execFileSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../../bench/figures.mjs'
import { bundleSource } from '../../bench/from-source.mjs'
import { makeMachine } from '../../bench/machine.mjs'
import { hookEnvironment, statusLine, toolBatch, transcriptStep, writeTranscript } from '../../bench/samples.mjs'
import { makeStopwatch } from '../../bench/stopwatch.mjs'
import { end, prove } from './prove.mjs'
import { lookInto } from './store.mjs'

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1024' } } })
const MB = 1024 * 1024
const SESSION = '10e60000-0000-4000-8000-000000000000'

const PROGRAM = `const [, , rooms, file] = process.argv
const { readTranscript } = await import(rooms)
const began = performance.now()
const read = readTranscript(file, null, { chain: 'main' })
const ms = performance.now() - began
const memory = process.resourceUsage().maxRSS / 1024
console.log(JSON.stringify({ ms, used: read.observed.at(-1)?.reading.used, memory }))
`

const machine = makeMachine('long')
const file = join(machine.dir, `${SESSION}.jsonl`)
const session = { sessionId: SESSION, cwd: machine.project, transcript: file }
const steps = writeTranscript(file, { ...session, bytes: Number(values.megabytes) * MB })
console.log(`long transcript: ${values.megabytes} MB, ${steps.toLocaleString('en')} steps`)
const bundle = await bundleSource(['agents/claude-code/transcript.ts'])
const program = join(machine.dir, 'look.mjs')
writeFileSync(program, PROGRAM)
const look = () =>
  JSON.parse(execFileSync(process.execPath, [program, bundle, file], { env: machine.env, encoding: 'utf8' }))

let n = 50_000_000
const grow = (used, size = 900) =>
  appendFileSync(file, transcriptStep({ ...session, n: ++n, used, size, at: Date.now() }))
grow(61_008)
const first = Array.from({ length: 7 }, look)
const ms = median(first.map((one) => one.ms))
prove(
  first.every((one) => one.used === 61_008),
  'the newest answer is found',
  `${first[0].used} tokens`,
)
prove(ms <= 10, 'at first sight, within 10 ms', `${ms.toFixed(1)} ms`)
prove(
  first.every((one) => one.memory < 100),
  'in little memory',
  `${Math.round(Math.max(...first.map((one) => one.memory)))} MB, most of it Node's own`,
)

// Compare the installed status line without a server with that of a short transcript.
const watch = makeStopwatch(machine.dir)
const short = { ...session, sessionId: SESSION.replace('10e6', '5047'), transcript: join(machine.dir, 'short.jsonl') }
writeTranscript(short.transcript, { ...short, bytes: 300_000 })
const status = (one, used) => {
  appendFileSync(one.transcript, transcriptStep({ ...one, n: ++n, used, size: 900, at: Date.now() }))
  const env = { ...machine.env, ...hookEnvironment(one) }
  return watch.time(['/bin/sh', '-c', machine.statusCommand()], {
    env,
    payload: statusLine({ ...one, used }),
    cwd: machine.project,
  }).ms
}
const opening = [status(short, 61_008), status(session, 61_008)]
prove(
  opening[1] < 2 * opening[0] + 50,
  'the status line is not held up at first sight',
  `${opening[1].toFixed(0)} ms, short ${opening[0].toFixed(0)} ms`,
)
const later = { short: [], long: [] }
for (let i = 0; i < 15; i++) {
  later.short.push(status(short, 62_008 + i))
  later.long.push(status(session, 62_008 + i))
}
const [brief, long] = [median(later.short), median(later.long)]
prove(long < 1.3 * brief, 'nor later', `${long.toFixed(0)} ms, short ${brief.toFixed(0)} ms`)

// A transcript that grew a lot between two reads is read in chunks, with the correct result.
for (let i = 0; i < 1_500; i++) grow(70_008 + i, 40_000)
const hook = join(machine.batonHome, 'bin', 'hook')
execFileSync(hook, ['PostToolBatch'], {
  env: { ...machine.env, ...hookEnvironment(session) },
  input: toolBatch({ ...session, n, size: 900 }),
})
machine.baton('status')
const record = lookInto(machine.batonHome).sessions.find((one) => one.sessionId === SESSION)
prove(record.track.used === 71_507, '60 MB more between two looks are taken in', `${record.track.used} tokens`)
machine.remove()
end()
