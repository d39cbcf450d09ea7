import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claimHour, isDue } from './hourly-claim.js'

const START = Date.parse('2026-03-01T10:40:00.000Z')
const MINUTE = 60_000

function hourly() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-hourly-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, at: (minutes: number) => ({ folder, name: 'swept', now: new Date(START + minutes * MINUTE) }) }
}

test('in a fresh home the first hour begins with the first look', () => {
  const { at } = hourly()
  expect(isDue(at(0))).toBe(false)
  expect(claimHour(at(59))).toBe(false)
  expect(isDue(at(60))).toBe(true)
})

test('a claim holds for an hour, also when the next hour of the clock begins meanwhile', () => {
  const { at, folder } = hourly()
  isDue(at(0))
  expect(claimHour(at(60))).toBe(true)
  expect([61, 85, 119].map((minute) => claimHour(at(minute)))).toEqual([false, false, false])
  expect(claimHour(at(120))).toBe(true)
  expect(readdirSync(folder)).toHaveLength(1)
})

test('a clock that was set back does not stop the claims', () => {
  const { at } = hourly()
  isDue(at(600))
  expect(claimHour(at(0))).toBe(true)
})

test('nothing is due in a folder that does not exist, and the folder is not made', () => {
  const { folder, at } = hourly()
  rmSync(folder, { recursive: true })
  expect(isDue(at(0))).toBe(false)
  expect(claimHour(at(600))).toBe(false)
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('a folder in the place of the mark stops the claim and nothing else', () => {
  const { folder, at } = hourly()
  isDue(at(0))
  mkdirSync(join(folder, `swept-${Math.floor((START + 60 * MINUTE) / 3_600_000)}`))
  expect(claimHour(at(60))).toBe(false)
})
