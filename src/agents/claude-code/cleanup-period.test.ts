import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cleanupPeriod } from './reader.js'

function client() {
  const dir = mkdtempSync(join(tmpdir(), 'baton-cleanup-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const transcript = join(dir, '.claude', 'projects', '-shop', 's1.jsonl')
  mkdirSync(join(dir, '.claude', 'projects', '-shop'), { recursive: true })
  mkdirSync(join(dir, 'managed-settings.d'))
  const managed = join(dir, 'managed-settings.json')
  const write = (name: string, settings: unknown): string => {
    writeFileSync(join(dir, name), JSON.stringify(settings))
    return join(dir, name)
  }
  return { write, period: () => cleanupPeriod(transcript, managed), unknown: () => cleanupPeriod(null, managed) }
}

test('without a setting the client deletes after 30 days, and the period does not count as set', () => {
  expect(client().period()).toEqual({ days: 30, setBy: null })
})

test("the user's setting counts as set, even if it equals the default", () => {
  const it = client()
  const setBy = it.write('.claude/settings.json', { cleanupPeriodDays: 30 })
  expect(it.period()).toEqual({ days: 30, setBy })
  expect(it.unknown()).toEqual({ days: 30, setBy: null })
})

test("an administrator's setting outranks the user's, and a later file of theirs an earlier one", () => {
  const it = client()
  it.write('.claude/settings.json', { cleanupPeriodDays: 365 })
  const managed = it.write('managed-settings.json', { cleanupPeriodDays: 14 })
  expect(it.period()).toEqual({ days: 14, setBy: managed })
  it.write('managed-settings.d/10-a.json', { cleanupPeriodDays: 10 })
  const last = it.write('managed-settings.d/20-b.json', { cleanupPeriodDays: 7 })
  expect(it.period()).toEqual({ days: 7, setBy: last })
})

test.each([0, -1, '7', null, true])('a period of %j is ignored, as by the client', (cleanupPeriodDays) => {
  const it = client()
  it.write('.claude/settings.json', { cleanupPeriodDays })
  expect(it.period()).toEqual({ days: 30, setBy: null })
})
