#!/usr/bin/env node
// Measures side by side: node bench/run.mjs [name…] [--json] [--quick] [--peers].
// docs/internals/performance.md explains the figures.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BATON } from './machine.mjs'
import { circumstances, render } from './table.mjs'

const BENCHES = [
  'statusline',
  'batch',
  'tail',
  'facts',
  'check',
  'hostile',
  'ingest',
  'live',
  'page',
  'store',
  'archive',
  'handoff',
  'jobs',
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    quick: { type: 'boolean' },
    peers: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
const unknown = positionals.filter((name) => !BENCHES.includes(name))
if (values.help || unknown.length > 0) {
  const say = unknown.length > 0 ? console.error : console.log
  say(`node bench/run.mjs [${BENCHES.join('|')}]… [--quick] [--peers] [--json]`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

if (!existsSync(BATON))
  execFileSync(process.execPath, [new URL('../scripts/build.mjs', import.meta.url).pathname], { stdio: 'inherit' })
const around = circumstances()
const note = (text) => process.stderr.write(`${text}\n`)
if (around.busy) note(`load ${around.load_before}: something else is running here, so trust the ratios only`)

const results = []
for (const name of positionals.length > 0 ? positionals : BENCHES) {
  const bench = await import(`./${name}.mjs`)
  note(`${name} …`)
  const began = performance.now()
  const rows = await bench.run({ quick: values.quick === true, peers: values.peers === true, note })
  const result = { name, about: bench.about, rows, seconds: (performance.now() - began) / 1000 }
  results.push(result)
  if (!values.json) console.log(render(result))
}
const broken = results.flatMap(({ name, rows }) =>
  rows.filter((one) => one.holds === false).map((one) => `${name}: ${one.name}`),
)
if (values.json) console.log(JSON.stringify({ ...around, broken, results }, null, 2))
else console.log(broken.length === 0 ? '\nEvery bound holds.' : `\nBroken: ${broken.join('; ')}`)
process.exit(broken.length === 0 ? 0 : 1)
