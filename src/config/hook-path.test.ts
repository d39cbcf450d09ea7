import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** Returns every module that a file imports at run time, directly or indirectly. */
function importedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  for (const [, clause, from] of source.matchAll(/^import ([^']*?)\s*from '([^']+)'/gm)) {
    if (clause!.startsWith('type ')) continue
    if (from!.startsWith('.')) importedBy(join(dirname(file), from!.replace(/\.js$/, '.ts')), seen)
    else seen.add(from!)
  }
  return seen
}

test.each([
  ['policy-for.ts', 'presets.ts'],
  ['current-config.ts', 'compiled-copy.ts'],
])('%s loads neither the YAML nor the schema library, because hooks import it', (file, needed) => {
  const all = [...importedBy(join(import.meta.dirname, file))]
  expect(all).toContain(join(import.meta.dirname, needed))
  expect(all.filter((name) => name === 'yaml' || name === 'valibot')).toEqual([])
})

test('the loader imports the YAML and schema libraries, which proves that the search finds them', () => {
  expect([...importedBy(join(import.meta.dirname, 'load-config.ts'))]).toEqual(
    expect.arrayContaining(['yaml', 'valibot']),
  )
})
