import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { batonHome } from './home.js'
import { judgeHome } from './home-safety.js'
import { shellWords } from './shell-words.js'

const judge = (path: string) => judgeHome(batonHome({ BATON_HOME: path, HOME: '/me' }))

test.each(['/', '//', '/./', '/..', '/usr/..'])(
  'the root of the file system is refused as a home when spelled %s',
  (path) => {
    expect(judge(path)).toMatchObject({
      message: `Baton's home (${path}) is the root of the file system.`,
      hint: 'Set BATON_HOME to a folder that only Baton uses.',
    })
  },
)

test('a link to the root of the file system is refused as a home, and a folder beside the link is accepted', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-home-safety-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  symlinkSync('/', join(dir, 'link'))
  expect(judge(join(dir, 'link'))?.message).toContain('is the root of the file system')
  expect([judge(dir), judge(join(dir, 'missing'))]).toEqual([null, null])
})

test('a home is refused in a folder that everybody can write, and accepted in a sticky one', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-home-safety-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  chmodSync(dir, 0o777)
  expect(judge(join(dir, 'home'))).toMatchObject({
    message: expect.stringContaining(`other users can write to ${dir} and replace the home`),
    hint: expect.stringContaining('chmod o-w'),
  })
  chmodSync(dir, 0o1777)
  expect(judge(join(dir, 'home'))).toBeNull()
  chmodSync(dir, 0o775)
  expect(judge(join(dir, 'home'))).toBeNull()
})

test.runIf(process.getuid?.() === 0)('a home that is a symbolic link of another user is refused', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-home-safety-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'target'), { mode: 0o700 })
  symlinkSync(join(dir, 'target'), join(dir, 'link'))
  expect(judge(join(dir, 'link'))).toBeNull()
  lchownSync(join(dir, 'link'), 65_534, 65_534)
  expect(judge(join(dir, 'link'))?.message).toContain('is a symbolic link of another user')
  expect(judge(join(dir, 'link', 'home'))?.message).toContain(`${join(dir, 'link')} is a symbolic link of another user`)
  expect(judge(`${join(dir, 'link')}/`)?.message).toContain('is a symbolic link of another user')
})

test('a home behind a link in a folder that everybody can write is refused', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-home-safety-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'target'), { mode: 0o700 })
  symlinkSync(join(dir, 'target'), join(dir, 'link'))
  expect(judge(join(dir, 'link', 'home'))).toBeNull()
  chmodSync(dir, 0o777)
  expect(judge(join(dir, 'link', 'home'))?.message).toContain(`replace ${join(dir, 'link')}`)
})

test('a hint about a path with a quote is a command that the shell reads as that path', () => {
  const dir = mkdtempSync(join(tmpdir(), "baton-test-home-safety-it's "))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  chmodSync(dir, 0o777)
  const command = /Run (chmod o-w .*), or/.exec(judge(join(dir, 'home'))?.hint ?? '')?.[1]
  expect(shellWords(command!, {})).toEqual(['chmod', 'o-w', dir])
})
