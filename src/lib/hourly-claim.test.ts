import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claimHour, isClaimDue } from './hourly-claim.js'

const START = Date.parse('2026-03-01T10:40:00.000Z')
const MINUTE = 60_000

function newClaims() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-hourly-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, at: (minutes: number) => ({ folder, name: 'swept', now: new Date(START + minutes * MINUTE) }) }
}

test('in a new home the first hour begins with the first check', () => {
  const { at } = newClaims()
  expect(isClaimDue(at(0))).toBe(false)
  expect(claimHour(at(59))).toBe(false)
  expect(isClaimDue(at(60))).toBe(true)
})

test('a claim lasts an hour, also when the next hour of the clock begins meanwhile', () => {
  const { at, folder } = newClaims()
  isClaimDue(at(0))
  expect(claimHour(at(60))).toBe(true)
  expect([61, 85, 119].map((minute) => claimHour(at(minute)))).toEqual([false, false, false])
  expect(claimHour(at(120))).toBe(true)
  expect(readdirSync(folder)).toHaveLength(1)
})

test('a clock that was set back does not stop the claims', () => {
  const { at } = newClaims()
  isClaimDue(at(600))
  expect(claimHour(at(0))).toBe(true)
})

test('nothing is due in a missing folder, and the folder is not created', () => {
  const { folder, at } = newClaims()
  rmSync(folder, { recursive: true })
  expect(isClaimDue(at(0))).toBe(false)
  expect(claimHour(at(600))).toBe(false)
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('a folder in the place of the mark makes the claim fail without an error', () => {
  const { folder, at } = newClaims()
  isClaimDue(at(0))
  mkdirSync(join(folder, `swept-${Math.floor((START + 60 * MINUTE) / 3_600_000)}`))
  expect(claimHour(at(60))).toBe(false)
})
