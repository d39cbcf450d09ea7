import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeConversation } from './archive-samples.mjs'
import { interleave, row, rowOf } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { cleanEnvironment, temporary } from './machine.mjs'
import { makeStopwatch } from './stopwatch.mjs'

export const about = 'transcripts kept before a compaction, and found again'

const MB = 1024 * 1024
const ROOMS = [
  'archive/archive.ts',
  'archive/plan-archive.ts',
  'archive/archive-folders.ts',
  'store/sqlite/sqlite.ts',
  'agents/readers.ts',
]

export async function run({ quick, note }) {
  const file = await bundleSource(ROOMS)
  const rooms = await import(file)
  return [...(await planning(file, quick)), ...growing(rooms), ...searching(rooms, quick ? 100 : 1024, note)]
}

/**
 * Measures the part of archiving that a hook waits for, in its own process, beside `cp` of the
 * same file.
 */
async function planning(file, quick) {
  const dir = temporary('archive-plan')
  const transcript = join(dir, 's.jsonl')
  writeConversation(transcript, { sessionId: 's', bytes: 200 * MB, seed: 3 })
  const program = join(dir, 'plan.mjs')
  writeFileSync(program, PLAN)
  const watch = makeStopwatch(temporary('archive-watch'))
  const env = cleanEnvironment(dir)
  const samples = await interleave(
    [
      { name: 'node', run: () => watch.time([process.execPath, '-e', '0'], { env }) },
      {
        name: 'cp',
        run: () => {
          rmSync(join(dir, 'copy'), { force: true })
          return watch.time(['/bin/cp', transcript, join(dir, 'copy')], { env })
        },
      },
      {
        name: 'plan',
        run: () => watch.time([process.execPath, program, file, join(dir, 'baton'), transcript], { env }),
      },
    ],
    { rounds: quick ? 5 : 15, until: Date.now() + 60_000 },
  )
  const ms = (name) => samples.get(name).map((one) => one.ms)
  const copy = rowOf('cp of 200 MB', ms('cp'))
  return [
    rowOf('node -e 0', ms('node')),
    copy,
    rowOf('plan of 200 MB, a process of its own', ms('plan'), { bound: copy.value + 150, rule: 'cp + 150 ms' }),
  ]
}

const PLAN = `
const [, , rooms, root, transcript] = process.argv
const { openStore, planArchive, archivePaths } = await import(rooms)
const store = openStore(root + '/baton.db')
const newId = () => crypto.randomUUID().slice(0, 16)
store.transaction(() => planArchive({ store, places: archivePaths(root), now: () => new Date(), newId, log() {} },
  { sessionId: 's', agent: 'claude-code', project: null, trigger: 'auto', transcript, subagents: () => [] }))
`

/** Makes a temporary home; `keep` plans an archive and finishes it. */
function home(rooms, what) {
  const root = join(temporary(what), 'baton')
  mkdirSync(root)
  const store = rooms.openStore(join(root, 'baton.db'))
  let ids = 0
  const parts = {
    store,
    root,
    now: () => new Date(),
    newId: () => String(++ids).padStart(12, '0'),
    log() {},
    readerOf: (agent, chain) => (line, number) => rooms.transcriptReaders[agent].entriesOfLine(line, number, chain),
  }
  const archives = rooms.makeArchives(parts)
  const keep = (sessionId, transcript) => {
    store.transaction(() =>
      rooms.planArchive(
        { ...parts, places: archives.places },
        { sessionId, agent: 'claude-code', project: '/bench/shop', trigger: 'auto', transcript, subagents: () => [] },
      ),
    )
    archives.finish()
  }
  const onDisk = () =>
    readdirSync(archives.places.folder)
      .filter((name) => name.endsWith('.br'))
      .reduce((sum, name) => sum + statSync(join(archives.places.folder, name)).size, 0)
  const close = () => {
    archives.close()
    store.close()
    rmSync(root, { recursive: true, force: true })
  }
  return { store, archives, keep, onDisk, close }
}

function growing(rooms) {
  const dir = temporary('archive-grow')
  const whole = join(dir, 'whole.jsonl')
  writeConversation(whole, { sessionId: 'g', bytes: 20 * MB, seed: 5 })
  const alone = home(rooms, 'archive-alone')
  alone.keep('g', whole)
  const last = alone.onDisk()
  alone.close()
  const ten = home(rooms, 'archive-ten')
  const grown = join(dir, 'grown.jsonl')
  for (let i = 1; i <= 10; i++) {
    // The client only appends, so an earlier state of a transcript is a prefix of the later one.
    execFileSync('/bin/cp', [whole, grown])
    truncateSync(grown, i === 10 ? statSync(whole).size : 2 * i * MB + 17 * i)
    ten.keep('g', grown)
  }
  const wrong = ten.archives.verify(ten.store.archives()).archives.filter(({ state }) => state !== 'whole')
  if (wrong.length > 0 || ten.store.archives().length !== 10) throw new Error(`not whole: ${JSON.stringify(wrong)}`)
  const size = ten.onDisk()
  ten.close()
  return [
    row('ten archives of a session that grows to 20 MB', size / last, {
      unit: 'x',
      bound: 1.3,
      rule: 'the last one alone',
      n: 10,
      note: `${(size / MB).toFixed(1)} MB; 20 MB alone ${(last / MB).toFixed(1)} MB`,
    }),
  ]
}

const QUERIES = [
  ['a word said once', 'xylophonequartz'],
  ['a phrase said once', '"the heron left at noon"'],
  ['two words nearly everywhere', 'ba ce'],
  ['a word nearly everywhere and a rare one', 'ba xylophonequartz'],
  ['the beginning of words', 'belcon*'],
  ['a word that is nowhere', 'nowhereatall'],
]

/** Questions as an agent asks them: no entry has all their words, so all are ranked. */
const QUESTIONS = [
  ['a question with rare words', 'which xylophonequartz did the heron leave at noon'],
  ['a question of words nearly everywhere', 'why did ba ce change belcon before nowhereatall was done'],
]

function searching(rooms, megabytes, note) {
  const sessions = Math.max(4, Math.round(megabytes / 64))
  const each = Math.floor((megabytes * MB) / sessions)
  const all = home(rooms, 'archive-search')
  const transcript = join(temporary('archive-text'), 't.jsonl')
  let text = 0
  let raw = 0
  let ms = 0
  for (let i = 0; i < sessions; i++) {
    const marks = i === 1 ? ['xylophonequartz', 'then the heron left at noon, quietly'] : []
    text += writeConversation(transcript, { sessionId: `s${i}`, bytes: each, seed: 100 + i, marks })
    raw += statSync(transcript).size
    const began = performance.now()
    all.keep(`s${i}`, transcript)
    ms += performance.now() - began
    // A hard link may still refer to the old file, so the next one is written as a new file.
    rmSync(transcript)
    note(`  ${i + 1} of ${sessions} sessions kept`)
  }
  const rows = QUERIES.map(([name, query]) => {
    const times = Array.from({ length: 21 }, () => {
      const began = performance.now()
      const found = all.archives.search({ query, limit: 10 })
      if (/once/.test(name) && found.length !== 1) throw new Error(`${query}: ${found.length} hits`)
      return performance.now() - began
    })
    return rowOf(`search: ${name}`, times.slice(1), { bound: 50 })
  })
  for (const [name, query] of QUESTIONS) {
    const times = Array.from({ length: 21 }, () => {
      const began = performance.now()
      all.archives.search({ query, limit: 5, anyWord: true, surroundings: 900 })
      return performance.now() - began
    })
    rows.push(rowOf(`search: ${name}`, times.slice(1), { bound: 50 }))
  }
  all.archives.close()
  const { indexBytes } = all.archives.sizes()
  all.close()
  return [
    row(`kept and made searchable, a second of it`, raw / MB / (ms / 1000), {
      unit: 'MB',
      note: `${Math.round(raw / MB)} MB in ${sessions} sessions`,
    }),
    row('index, of the text in them', indexBytes / text, {
      unit: 'x',
      bound: 0.5,
      note: `${(indexBytes / MB).toFixed(0)} MB; ${(indexBytes / raw).toFixed(2)}x of the transcripts`,
    }),
    ...rows,
  ]
}
