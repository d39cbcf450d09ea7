import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import { isPluginModuleGone, markPluginModuleGone, parseLiveReport, readLiveReport, reportsSeenOrders } from './live.js'

const report = {
  format: 1,
  session: 's1',
  seq: 4,
  at: 1_794_773_544_690,
  epoch: 0,
  tokens: 50_008,
  window: 200_000,
  model: 'claude-opus-4-6',
  cost: 0.31,
  compaction: { threshold: 167_000, effective: 200_000, by: 'model-default', enabled: true },
  problem: null,
}

function put(value: unknown, name = 's1'): { dir: string; file: string } {
  const dir = tempDir()
  const file = path.join(dir, `${name}.json`)
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
  return { dir, file }
}

test("a live report is an exact reading with the client's limits", () => {
  expect(readLiveReport(put(report).dir, 's1', null)).toEqual({
    reading: {
      used: 50_008,
      usage: null,
      exact: true,
      model: 'claude-opus-4-6',
      source: 'mod',
      answerId: null,
      stamp: 1_794_773_544_690,
    },
    told: { window: 200_000, effective: 200_000, threshold: 167_000, enabled: true, by: 'model-default' },
    model: 'claude-opus-4-6',
    costUsd: 0.31,
    mod: null,
    tellsSeen: false,
  })
})

test('a live report without a figure is unknown, and still has the limits', () => {
  const live = readLiveReport(put({ ...report, tokens: null }).dir, 's1', null)
  expect(live?.reading.used).toBeNull()
  expect(live?.told?.threshold).toBe(167_000)
})

test('a report of a failed plugin module is used only for what it knew before', () => {
  expect(parseLiveReport(JSON.stringify({ ...report, problem: 'Error: x' }), 's1')?.reading.used).toBe(50_008)
  expect(parseLiveReport(JSON.stringify({ ...report, tokens: null, problem: 'Error: x' }), 's1')).toBeNull()
})

test('a plugin module whose files were removed is ignored, and known to be gone', () => {
  const program = path.join(tempDir(), 'reg ister.js')
  const { dir } = put({ ...report, mod: pathToFileURL(program).href })
  expect([readLiveReport(dir, 's1', null), isPluginModuleGone(dir, 's1')]).toEqual([null, true])
  writeFileSync(program, '')
  expect([readLiveReport(dir, 's1', null)?.reading.used, isPluginModuleGone(dir, 's1')]).toEqual([50_008, false])
  const odd = put({ ...report, mod: 'blob:nodedata:1' })
  expect([
    readLiveReport(odd.dir, 's1', null)?.reading.used,
    isPluginModuleGone(odd.dir, 's1'),
    isPluginModuleGone(odd.dir, 'other'),
  ]).toEqual([50_008, false, false])
})

test('an abandoned plugin module is ignored until it reports again', () => {
  const { dir, file } = put({ ...report, seen: true })
  markPluginModuleGone(dir, 'other')
  expect([reportsSeenOrders(dir, 's1'), isPluginModuleGone(dir, 's1')]).toEqual([true, false])
  markPluginModuleGone(dir, 's1')
  expect([readLiveReport(dir, 's1', null), isPluginModuleGone(dir, 's1')]).toEqual([null, true])
  writeFileSync(file, JSON.stringify({ ...report, at: report.at + 1 }))
  expect([
    readLiveReport(dir, 's1', null)?.reading.used,
    isPluginModuleGone(dir, 's1'),
    reportsSeenOrders(dir, 's1'),
  ]).toEqual([50_008, false, false])
})

test('a report by an earlier process of the same session is ignored', () => {
  const { dir, file } = put(report)
  utimesSync(file, new Date(1_000_000_000_000), new Date(1_000_000_000_000))
  expect(readLiveReport(dir, 's1', 1_000_000_060_000)).toBeNull()
  expect(readLiveReport(dir, 's1', 999_999_990_000)?.reading.used).toBe(50_008)
})

test.each([
  '',
  '{"format":1',
  '[]',
  'null',
  JSON.stringify({ ...report, format: 2 }),
  JSON.stringify({ ...report, session: 'other' }),
  JSON.stringify({ ...report, at: 'now' }),
])('an incomplete or foreign report (%#) is ignored', (text) => {
  expect(parseLiveReport(text, 's1')).toBeNull()
  expect(readLiveReport(put(text).dir, 's1', null)).toBeNull()
})

test('there is no live report without a file, or for a session id that is a path', () => {
  const { dir } = put(report)
  expect(readLiveReport(null, 's1', null)).toBeNull()
  expect(readLiveReport('', 's1', null)).toBeNull()
  expect(readLiveReport(path.join(dir, 'missing'), 's1', null)).toBeNull()
  expect(readLiveReport(path.join(dir, 'sub'), '../s1', null)).toBeNull()
  mkdirSync(path.join(dir, 's2.json'))
  expect(readLiveReport(dir, 's2', null)).toBeNull()
})
