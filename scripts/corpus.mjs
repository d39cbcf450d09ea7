// Measures how well facts are extracted from labelled transcripts:
// node scripts/corpus.mjs [--unseen] [--misses] [--json]
// node scripts/corpus.mjs --real DIR [--only NAME] [--facts] [--misses] [--json]
// --misses lists missed and wrong facts, of the seen transcripts only: nobody tunes on the others.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { measureReal } from './corpus-real.mjs'

const root = new URL('..', import.meta.url).pathname
const { values } = parseArgs({
  options: {
    unseen: { type: 'boolean' },
    misses: { type: 'boolean' },
    json: { type: 'boolean' },
    real: { type: 'string' },
    only: { type: 'string' },
    facts: { type: 'boolean' },
  },
})
if (values.real !== undefined) {
  const program = await bundle([
    'test/corpus/real/real-labels.ts',
    'test/corpus/real/real-score.ts',
    'test/corpus/real/real-texts.ts',
    'test/corpus/real/planted-claims.ts',
    'test/corpus/real/calibration.ts',
  ])
  await measureReal(values.real, values, { ...program, root })
  process.exit(0)
}
const { readConversation, startFacts, score, total } = await bundle([
  'src/agents/claude-code/conversation.ts',
  'src/facts/facts.ts',
  'test/corpus/score.ts',
])

const parts = values.unseen ? ['seen', 'unseen'] : ['seen']
const results = parts.flatMap((part) => {
  const scored = transcripts(part).map((one) => ({ ...one, scores: score(one.labels, factsOf(one.file)) }))
  const english = scored.filter(({ labels }) => labels.language === 'en')
  const others = scored.filter(({ labels }) => labels.language !== 'en')
  if (values.misses && part === 'seen') for (const one of scored) listMisses(one)
  return [
    figures(`${part}, all`, scored),
    figures(`${part}, English`, english),
    figures(`${part}, other languages`, others),
  ]
})
if (values.json) console.log(JSON.stringify(results, null, 2))
else for (const result of results) print(result)

function transcripts(part) {
  const folder = join(root, 'test', 'corpus', part)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.labels.json'))
    .sort()
    .map((name) => ({
      file: join(folder, name.replace('.labels.json', '.jsonl')),
      labels: JSON.parse(readFileSync(join(folder, name), 'utf8')),
    }))
}

function factsOf(file) {
  const facts = startFacts()
  const { problem } = readConversation(file, { withoutFiles: true, onEntry: facts.add })
  if (problem !== null) throw new Error(`${file}: ${problem}`)
  return facts.facts()
}

function figures(name, scored) {
  const kinds = total(scored.flatMap(({ scores }) => scores)).map(({ kind, labels, reports, recall, precision }) => ({
    kind,
    labels,
    reports,
    recall,
    precision,
  }))
  return { name, transcripts: scored.length, kinds }
}

function print({ name, transcripts: count, kinds }) {
  console.log(`\n${name}: ${count} transcripts`)
  console.log(
    `${'kind'.padEnd(14)}${'labels'.padStart(8)}${'recall'.padStart(8)}${'told'.padStart(8)}` +
      `${'precision'.padStart(11)}`,
  )
  for (const { kind, labels, reports, recall, precision } of kinds) {
    console.log(
      `${kind.padEnd(14)}${String(labels).padStart(8)}${ratio(recall).padStart(8)}${String(reports).padStart(8)}` +
        `${ratio(precision).padStart(11)}`,
    )
  }
}

function ratio(value) {
  return value === null ? '–' : value.toFixed(2)
}

function listMisses({ labels, scores }) {
  for (const { kind, misses, wrong } of scores) {
    for (const { text, state, line } of misses)
      console.log(`${labels.name}: missed ${kind} (${state}, line ${line}): ${text}`)
    for (const { text, state, line, why } of wrong)
      console.log(`${labels.name}: wrong ${kind} (${state}, line ${line}, ${why}): ${text}`)
  }
}

async function bundle(files) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-corpus-'))
  try {
    const outfile = join(dir, 'rooms.mjs')
    await build({
      stdin: {
        contents: files.map((file) => `export * from ${JSON.stringify(join(root, file))}`).join('\n'),
        resolveDir: root,
      },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
