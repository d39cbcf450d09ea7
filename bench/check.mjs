import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from './facts.mjs'
import { interleave, median, row, rowOf } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { cleanEnvironment, temporary } from './machine.mjs'

export const about = 'the check of a brief: with facts kept up to date as the transcript grew, and from its beginning'

const MB = 1024 * 1024
/** Bound in milliseconds when stored facts are current, for a transcript of any length. */
const WARM_MS = 200
/** Bound in milliseconds without stored facts, for a transcript of 20 MB. */
const COLD_MS = 1_000
/** Bytes that the client may have written since the facts were stored. */
const SINCE = 256 * 1024

/**
 * Each sample is a new process that reads the transcript and compares a brief with it. Node's start
 * is not counted. Processor time is measured, because other work on the machine does not change it.
 */
export async function run({ quick, note }) {
  const rounds = quick ? 3 : 9
  const dir = temporary('check')
  const rooms = await bundleSource([
    'agents/readers.ts',
    'engine/compaction/read-facts.ts',
    'briefs/check-brief.ts',
    'briefs/mechanical-brief.ts',
  ])
  const program = join(dir, 'check-once.mjs')
  writeFileSync(program, PROGRAM)
  const env = cleanEnvironment(dir)
  const rows = []
  for (const size of [20, 200]) {
    const file = join(dir, `${size}.jsonl`)
    const lines = writeConversation(file, { bytes: size * MB, bookkeeping: true })
    const once = (how) =>
      JSON.parse(
        execFileSync(process.execPath, [program, rooms, file, how, dir, String(SINCE)], { env, encoding: 'utf8' }),
      )
    const { kept_mb, facts } = once('keep')
    note(`${size} MB: ${lines.toLocaleString('en')} lines, ${facts} facts, ${kept_mb.toFixed(1)} MB kept of them`)
    const ways = size === 20 ? ['warm', 'cold'] : ['warm']
    const samples = await interleave(
      ways.map((how) => ({
        name: how,
        run: () => {
          const told = once(how)
          if (told.facts !== facts || told.score < 0.5)
            throw new Error(`${how}: ${told.facts} facts, score ${told.score}`)
          return told.ms
        },
      })),
      { rounds, warm: 1 },
    )
    rows.push(
      rowOf(`check, ${size} MB, facts kept up to date`, samples.get('warm'), {
        bound: WARM_MS,
        rule: 'at most 200 ms',
      }),
    )
    if (size === 20)
      rows.push(
        rowOf('check, 20 MB, from its beginning', samples.get('cold'), { bound: COLD_MS, rule: 'at most 1 s' }),
        row('of that, with facts kept', (median(samples.get('warm')) / median(samples.get('cold'))) * 100, {
          unit: '%',
        }),
      )
    rows.push(row(`facts kept of ${size} MB`, kept_mb, { unit: 'MB' }))
  }
  return rows
}

const PROGRAM = `
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const [, , rooms, file, how, dir, since] = process.argv
const { transcriptReaders, readFacts, checkBrief, writeBriefByCode } = await import(rooms)
const place = { folder: join(dir, 'facts'), program: 'bench' }
const sessionId = file.split('/').at(-1).replace('.', '-')
const read = (limits) => readFacts(transcriptReaders, 'claude-code', file, limits)
if (how === 'keep') read({ bytes: statSync(file).size - Number(since), keeping: { place, sessionId, every: 1 } })
const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
const began = spent()
const found = read(how === 'cold' ? {} : { keeping: { place, sessionId, every: null } })
const text = how === 'keep' ? writeBriefByCode(found.facts, null) : readFileSync(file + '.md', 'utf8')
const { score } = checkBrief(text, found.facts, [])
const ms = spent() - began
if (how === 'keep') writeFileSync(file + '.md', text)
const kept_mb = how === 'cold' ? 0 : statSync(join(dir, 'facts', sessionId)).size / 1024 / 1024
console.log(JSON.stringify({ ms, score, facts: found.facts.length, kept_mb }))
`
