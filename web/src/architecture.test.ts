import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SRC = import.meta.dirname
const files = (readdirSync(SRC, { recursive: true }) as string[]).filter(
  (name) => /\.tsx?$/.test(name) && !name.includes('.test.'),
)
const text = (file: string): string => readFileSync(join(SRC, file), 'utf8')
const offenders = (pattern: RegExp): string[] => files.filter((file) => pattern.test(text(file)))

test('the page takes nothing of the program but types of its contract', () => {
  const imports = files.flatMap((file) =>
    [...text(file).matchAll(/^import (type )?.*from '([./]*src\/[^']+)'/gm)].map((found) => [file, ...found.slice(1)]),
  )
  expect(imports.length).toBeGreaterThan(10)
  expect(imports.filter(([, type, from]) => type === undefined || !from!.includes('src/contract/'))).toEqual([])
})

test('what others wrote is only ever text, and no address but the page’s own is opened', () => {
  expect(offenders(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write/)).toEqual([])
  expect(offenders(/['"`]https?:|window\.open|\beval\(/)).toEqual([])
})

test('the content security policy holds: no style elements, no data: addresses', () => {
  expect(offenders(/<style|createElement\('style'\)|data:[a-z]+\//)).toEqual([])
})

test('no page dresses what another page calls the same: a page’s styles stay when somebody goes on to the next', () => {
  const sheets = (readdirSync(SRC, { recursive: true }) as string[]).filter(
    (name) => name.endsWith('.css') && !/styles\/(tokens|base|parts|shell)\.css$/.test(name),
  )
  const owners = new Map<string, Set<string>>()
  for (const sheet of sheets) {
    const rules = text(sheet).replace(/\/\*.*?\*\//gs, '')
    for (const [selectors] of rules.matchAll(/[^{};]+(?=\{)/g)) {
      for (const selector of selectors.split(',')) {
        const name = /^\s*[a-z]*\.([\w-]+)/.exec(selector)?.[1]
        if (name !== undefined) owners.set(name, (owners.get(name) ?? new Set()).add(sheet))
      }
    }
  }
  expect(owners.size).toBeGreaterThan(100)
  expect([...owners].filter(([, by]) => by.size > 1).map(([name, by]) => `${name}: ${[...by].join(', ')}`)).toEqual([])
})
