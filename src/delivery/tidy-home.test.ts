import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { batonHome } from '../lib/home.js'
import { tidyDaily, tidyPathsOf } from './tidy-home.js'

test('the daily tidying removes old files of the home, and nothing behind a linked folder', () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-test-tidy-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const old = (path: string): string => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), 'x')
    utimesSync(join(dir, path), 0, 0)
    return join(dir, path)
  }
  const [ours, mine] = [old('home/aside/signal'), old('docs/diary.txt')]
  const { mark, aside, ...rest } = tidyPathsOf(batonHome({ BATON_HOME: join(dir, 'home') }))
  for (const place of Object.values(rest)) symlinkSync(join(dir, 'docs'), place)
  expect(tidyDaily({ deleteOldRows: () => 0 }, { mark, aside, ...rest }, new Date())).toBe(true)
  expect([existsSync(ours), existsSync(mine)]).toEqual([false, true])
})
