import { execFileSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rowOf } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { cleanEnvironment, temporary } from './machine.mjs'
import { prose, transcriptStep, writeTranscript } from './samples.mjs'

export const about = "the newest answer's usage in a transcript of 200 MB, work inside the process"

const MB = 1024 * 1024
const SESSION = '0a1b2c3d-0000-4000-8000-000000000200'

/** Each sample is a new process, because a hook never runs warm code. */
export async function run({ quick }) {
  const rounds = quick ? 5 : 25
  const dir = temporary('tail')
  const rooms = await bundleSource(['agents/claude-code/transcript.ts'])
  const program = join(dir, 'tail-once.mjs')
  writeFileSync(program, PROGRAM)
  const file = join(dir, 'long.jsonl')
  const steps = writeTranscript(file, { sessionId: SESSION, cwd: '/bench', bytes: 200 * MB })
  const env = cleanEnvironment(dir)
  const once = () => JSON.parse(execFileSync(process.execPath, [program, rooms, file], { env, encoding: 'utf8' }))

  const repeat = (what) =>
    Array.from({ length: rounds }, (_, i) => {
      const used = 70_008 + i
      appendFileSync(
        file,
        transcriptStep({ sessionId: SESSION, cwd: '/bench', n: 9_000_000 + i, used, size: 900, at: Date.now() }),
      )
      const seen = once()
      if (seen.used !== used) throw new Error(`read ${seen.used} instead of ${used}`)
      return seen[what]
    })
  const first = repeat('first')
  const grown = repeat('grown')
  const same = repeat('same')
  // The worst case for reading a tail: a large tool result after the newest answer.
  appendFileSync(
    file,
    `${JSON.stringify({ type: 'user', sessionId: SESSION, message: { role: 'user', content: prose(6 * MB) } })}\n`,
  )
  const buried = Array.from({ length: rounds }, () => once().first)
  return [
    rowOf('first sight', first, { bound: 10, note: `${steps.toLocaleString('en')} steps in the file` }),
    rowOf('one step more', grown, { bound: 10 }),
    rowOf('nothing new', same, { bound: 10 }),
    rowOf('first sight, 6 MB of tool result after the answer', buried),
  ]
}

const PROGRAM = `
const [, , rooms, file] = process.argv
const { readTranscript } = await import(rooms)
const timed = (from) => {
  const began = performance.now()
  const read = readTranscript(file, from, { chain: 'main' })
  return { ms: performance.now() - began, read }
}
const first = timed(null)
const { cursor, observed } = first.read
// An earlier read ended before the newest step.
const grown = timed({ ...cursor, offset: observed.at(-1).offset, answerId: undefined })
const same = timed(cursor)
console.log(JSON.stringify({ first: first.ms, grown: grown.ms, same: same.ms, used: observed.at(-1).reading.used }))
`
