// A transcript of a gigabyte: what its newest answer costs, in time and memory. node test/soak/long-transcript.mjs [--megabytes N]
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
console.log(JSON.stringify({ ms, used: read.observed.at(-1)?.reading.used, memory: process.resourceUsage().maxRSS / 1024 }))
`

const machine = makeMachine('long')
const file = join(machine.dir, `${SESSION}.jsonl`)
const session = { sessionId: SESSION, cwd: machine.project, transcript: file }
const steps = writeTranscript(file, { ...session, bytes: Number(values.megabytes) * MB })
console.log(`long transcript: ${values.megabytes} MB, ${steps.toLocaleString('en')} steps`)
const rooms = await bundleSource(['agents/claude-code/transcript.ts'])
const program = join(machine.dir, 'look.mjs')
writeFileSync(program, PROGRAM)
const look = () => JSON.parse(execFileSync(process.execPath, [program, rooms, file], { env: machine.env, encoding: 'utf8' }))

let n = 50_000_000
const grow = (used, size = 900) => appendFileSync(file, transcriptStep({ ...session, n: ++n, used, size, at: Date.now() }))
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
  `${Math.round(Math.max(...first.map((one) => one.memory)))} MB, Node's own 45 among them`,
)

// the installed commands, no server: first sight, then a step more each time
const watch = makeStopwatch(machine.dir)
const env = { ...machine.env, ...hookEnvironment(session) }
const bare = median(Array.from({ length: 7 }, () => watch.time([process.execPath, '-e', '0'], { env }).ms))
const status = (used) =>
  watch.time(['/bin/sh', '-c', machine.statusCommand()], { env, payload: statusLine({ ...session, used }), cwd: machine.project })
const opening = status(61_008)
prove(opening.ms < 10 * bare, 'the status line is not held up at first sight', `${opening.ms.toFixed(0)} ms`)
const later = median(
  Array.from({ length: 9 }, (_, i) => {
    grow(62_008 + i)
    return status(62_008 + i).ms
  }),
)
prove(later <= 2.5 * bare, 'nor later', `${later.toFixed(0)} ms, bare Node ${bare.toFixed(0)} ms`)

// what grows by much between two looks is read in pieces, and its end is right
for (let i = 0; i < 1_500; i++) grow(70_008 + i, 40_000)
status(71_507)
const hook = join(machine.batonHome, 'bin', 'hook')
execFileSync(hook, ['PostToolBatch'], { env, input: toolBatch({ ...session, n, size: 900 }) })
machine.baton('status')
const [record] = lookInto(machine.batonHome).sessions
prove(record.track.used === 71_507, '60 MB more between two looks are taken in', `${record.track.used} tokens`)
machine.remove()
end()
