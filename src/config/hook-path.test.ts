import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** Everything a file imports at run time, and what that imports in turn. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  for (const [, clause, from] of source.matchAll(/^import ([^']*?)\s*from '([^']+)'/gm)) {
    if (clause!.startsWith('type ')) continue
    if (from!.startsWith('.')) reached(join(dirname(file), from!.replace(/\.js$/, '.ts')), seen)
    else seen.add(from!)
  }
  return seen
}

test.each([
  ['policy-for.ts', 'presets.ts'],
  ['current-config.ts', 'compiled-copy.ts'],
])('%s brings no YAML or schema library to the hook', (file, needed) => {
  const all = [...reached(join(import.meta.dirname, file))]
  expect(all).toContain(join(import.meta.dirname, needed))
  expect(all.filter((name) => name === 'yaml' || name === 'valibot')).toEqual([])
})

test('the loader does bring them, so that this test can see them', () => {
  expect([...reached(join(import.meta.dirname, 'load-config.ts'))]).toEqual(expect.arrayContaining(['yaml', 'valibot']))
})
