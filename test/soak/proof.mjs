// Drives the real client with planted facts through eight handoffs and eight compactions in a row.
// node test/soak/proof.mjs [--replicates N]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { end, prove } from './prove.mjs'

const { values } = parseArgs({ options: { replicates: { type: 'string', default: '3' } } })
const BATON = join(dirname(dirname(import.meta.dirname)), 'dist', 'baton.mjs')
const home = mkdtempSync(join(tmpdir(), 'baton-soak-'))
const env = { PATH: process.env.PATH, HOME: home, BATON_HOME: join(home, 'baton'), TMPDIR: home }
const ran = spawnSync(process.execPath, [BATON, 'proof', '--planted', '--replicates', values.replicates, '--json'], {
  env,
  encoding: 'utf8',
})
rmSync(home, { recursive: true, force: true })
if (ran.stdout === '') {
  console.log(ran.stderr)
  process.exit(1)
}
const { arms, hostile, mismatches, verdict } = JSON.parse(ran.stdout)
for (const { name, needed, by_generation: generations } of arms) {
  const detail = generations.map(({ generation, kept, of }) => `${generation}: ${kept} of ${of}`).join(', ')
  if (name === 'compaction without Baton') prove(needed.kept < needed.of, `${name} loses planted facts`, detail)
  else prove(needed.of > 0 && needed.kept === needed.of, `${name} breaks nothing`, detail)
}
prove(hostile.repeated === 0, 'no text of Baton repeats the hostile text unquoted', `${hostile.requests} requests`)
prove(mismatches.length === 0, 'the client did what the reader decided', mismatches.join('; '))
prove(ran.status === 0, 'the command ends with 0')
console.log(verdict)
end()
