import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { missingFolders, rememberedFolders, rememberFolders, removeEmptyFolders } from './made-folders.js'
import { purgeHome } from './purge-home.js'

function place() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-purge-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const home = join(dir, 'home')
  const put = (path: string): string => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), 'x')
    return join(dir, path)
  }
  const rules = { names: ['store', 'jobs', 'archive'], owns: { archive: (path: string) => path.endsWith('.br') } }
  const purge = (dryRun = false, end = '') => purgeHome(home + end, rules, new Set([join(home, 'config.yaml')]), dryRun)
  return { dir, home, put, purge }
}

test('a purge removes the named files, and the home when it becomes empty', () => {
  const { home, put, purge } = place()
  for (const path of ['store', 'jobs/j1/log', 'archive/a.br', 'archive/records/b.br', '.store.baton-999999-1'])
    put(`home/${path}`)
  expect(purge()).toEqual([])
  expect(existsSync(home)).toBe(false)
  expect(purge()).toEqual([])
})

test("a purge keeps and lists the user's files, also inside Baton's folders", () => {
  const { home, put, purge } = place()
  const mine = [put('home/archive/old/notes.txt'), put('home/diary/today.md'), put('home/notes.txt')]
  for (const path of ['store', 'archive/a.br', 'config.yaml']) put(`home/${path}`)
  expect(purge(true).map(({ path }) => path)).toEqual([mine[0], dirname(mine[1]!), mine[2]])
  expect(existsSync(join(home, 'store'))).toBe(true)
  const left = purge()
  expect(left).toEqual(purge(true))
  expect(mine.every((path) => existsSync(path))).toBe(true)
  expect(readdirSync(home).sort()).toEqual(['archive', 'config.yaml', 'diary', 'notes.txt'])
})

test('a purge removes recognised files from a linked archive and leaves the rest and the folder itself', () => {
  const { dir, home, put, purge } = place()
  const mine = put('disk/mine.txt')
  for (const path of ['a.br', 'records/b.br']) put(`disk/${path}`)
  mkdirSync(join(dir, 'disk', 'empty'))
  const nested = put('docs/c.br')
  symlinkSync(dirname(nested), join(dir, 'disk', 'docs'))
  mkdirSync(home)
  symlinkSync(join(dir, 'disk'), join(home, 'archive'))
  const left = ['docs', 'empty', 'mine.txt'].map((name) => ({
    path: join(home, 'archive', name),
    reason: 'not created by Baton',
  }))
  expect(purge(true)).toEqual(left)
  expect(purge()).toEqual(left)
  expect(readdirSync(join(dir, 'disk')).sort()).toEqual(['docs', 'empty', 'mine.txt'])
  expect(existsSync(nested)).toBe(true)
  for (const path of [mine, join(dir, 'disk', 'docs')]) rmSync(path)
  rmSync(join(dir, 'disk', 'empty'), { recursive: true })
  expect(purge()).toEqual([])
  expect([existsSync(home), existsSync(join(dir, 'disk'))]).toEqual([false, true])
})

test('a purge removes only the link of a linked place without a rule, and lists the target', () => {
  const { dir, home, put, purge } = place()
  const mine = [put('docs/j1/log'), put('other.db'), put('file.br')]
  mkdirSync(home)
  for (const [name, target] of [
    ['jobs', 'docs'],
    ['store', 'other.db'],
    ['archive', 'file.br'],
    ['.store.baton-999999-1', 'nowhere'],
  ] as const)
    symlinkSync(join(dir, target), join(home, name))
  const left = purge(true)
  expect(left).toEqual(
    (
      [
        ['archive', 'file.br'],
        ['jobs', 'docs'],
        ['store', 'other.db'],
      ] as const
    ).map(([name, target]) => ({
      path: join(dir, target),
      reason: `target of the symbolic link ${join(home, name)}; a purge removes only the link`,
    })),
  )
  expect(readdirSync(home)).toHaveLength(4)
  expect(purge()).toEqual(left)
  expect(mine.every((path) => existsSync(path))).toBe(true)
  expect(existsSync(home)).toBe(false)
})

test('a link to another place of the same home is not reported, because that place is judged by its own name', () => {
  const { dir, home, put, purge } = place()
  put('home/store')
  symlinkSync(join(home, 'store'), join(home, 'jobs'))
  expect([purge(true), purge()]).toEqual([[], []])
  expect(readdirSync(dir)).toEqual([])
})

test.each(['', '/', '/.', '//'])(
  'a purge of a linked home written with "%s" at its end removes only the link',
  (end) => {
    const { dir, home, put, purge } = place()
    const mine = [put('docs/jobs/j1/log'), put('docs/archive/a.br'), put('docs/store')]
    symlinkSync(join(dir, 'docs'), home)
    const left = [
      { path: join(dir, 'docs'), reason: `target of the symbolic link ${home}; a purge removes only the link` },
    ]
    expect(purge(true, end)).toEqual(left)
    expect(existsSync(home)).toBe(true)
    expect(purge(false, end)).toEqual(left)
    expect(mine.every((path) => existsSync(path))).toBe(true)
    expect(readdirSync(dir)).toEqual(['docs'])
  },
)

test('a purge removes a link in a folder of a job, and keeps its target', () => {
  const { dir, put, purge } = place()
  const mine = put('work/mine.txt')
  put('home/jobs/j1/log')
  symlinkSync(dirname(mine), join(dir, 'home', 'jobs', 'j1', 'work'))
  purge()
  expect(existsSync(mine)).toBe(true)
})

test('folders that were made for Baton are removed when they are empty, and others never', () => {
  const { dir, home, put } = place()
  put('.config/other')
  const missing = [
    ...missingFolders(join(dir, '.config', 'systemd', 'user')),
    ...missingFolders(join(dir, '.local', 'x')),
  ]
  expect(missing).toEqual(
    ['.config/systemd', '.config/systemd/user', '.local', '.local/x'].map((one) => join(dir, one)),
  )
  rememberFolders(home, missing)
  rememberFolders(home, missing.slice(0, 1))
  expect(rememberedFolders(home)).toEqual(missing)
  mkdirSync(join(dir, '.config', 'systemd', 'user'), { recursive: true })
  mkdirSync(join(dir, '.local', 'x'), { recursive: true })
  put('.local/mine')
  removeEmptyFolders(missing)
  expect([readdirSync(join(dir, '.config')), readdirSync(join(dir, '.local'))]).toEqual([['other'], ['mine']])
})
