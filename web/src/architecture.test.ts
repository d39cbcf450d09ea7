import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SRC = import.meta.dirname
const files = (readdirSync(SRC, { recursive: true }) as string[]).filter(
  (name) => /\.tsx?$/.test(name) && !name.includes('.test.'),
)
const text = (file: string): string => readFileSync(join(SRC, file), 'utf8')
const offenders = (pattern: RegExp): string[] => files.filter((file) => pattern.test(text(file)))

test('the page imports nothing of the program except types of its contract', () => {
  const imports = files.flatMap((file) =>
    [...text(file).matchAll(/^import (type )?.*from '([./]*src\/[^']+)'/gm)].map((found) => [file, ...found.slice(1)]),
  )
  expect(imports.length).toBeGreaterThan(10)
  expect(imports.filter(([, type, from]) => type === undefined || !from!.includes('src/contract/'))).toEqual([])
})

test('the page never interprets text as markup and opens no address but its own', () => {
  expect(offenders(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write/)).toEqual([])
  expect(offenders(/['"`]https?:|window\.open|\beval\(/)).toEqual([])
})

test('the page uses no style elements and no data: addresses, which its content security policy forbids', () => {
  expect(offenders(/<style|createElement\('style'\)|data:[a-z]+\//)).toEqual([])
})

test('no two pages style the same class, because a page’s style sheet stays loaded on the next page', () => {
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
