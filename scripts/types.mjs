// Writes the library's type declarations, only those that index.d.ts needs: node scripts/types.mjs
// [folder]
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const out = resolve(process.argv[2] ?? join(root, 'dist', 'types'))
const all = mkdtempSync(join(tmpdir(), 'baton-types-'))
try {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.types.json'), '--outDir', all], {
    stdio: 'inherit',
  })
  rmSync(out, { recursive: true, force: true })
  for (const file of reachable(join(all, 'index.d.ts'))) cpSync(file, join(out, relative(all, file)))
} finally {
  rmSync(all, { recursive: true, force: true })
}

function reachable(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)\.js'/g))
    reachable(resolve(dirname(file), `${name}.d.ts`), found)
  return found
}
