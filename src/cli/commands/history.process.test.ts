import { expect, test } from 'vitest'
import { createTestHome, sendReading } from '../../testing/cli-home.js'

test('an empty history says what to do, and impossible days and timezones are refused', async () => {
  const fixture = createTestHome()
  expect((await fixture.run(['history'])).stdout).toContain('Nothing is recorded yet')
  expect(await fixture.run(['history', '--days', '0'])).toMatchObject({ code: 2 })
  expect((await fixture.run(['history', '--timezone', 'Mars/Olympus'])).stderr).toContain(
    'Unknown timezone "Mars/Olympus"',
  )
})

test('history shows the spend by day, and the same as JSON', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => {
    sendReading(app, { session: 'aaaa-1', project: fixture.project, used: 50_000 })
    app.store.addSpend({
      sessionId: 'aaaa-1',
      at: new Date().toISOString(),
      model: 'haiku',
      steps: 12,
      input: 1_000,
      output: 2_000,
      cacheCreation: 0,
      cacheRead: 3_000,
      costUsd: 1.5,
    })
  })
  const text = (await fixture.run(['history', '--days', '2'])).stdout
  expect(text).toMatch(/DAY\s+SESSIONS\s+STEPS\s+IN\s+OUT\s+CACHE\s+COST/)
  expect(text).toMatch(/total\s+1\s+1[23]/)
  const { json } = await fixture.run(['history', '--days', '2', '--json'])
  expect(json.days).toHaveLength(2)
  expect(json.timezone).toBe('UTC')
  expect(json.totals.sessions).toBe(1)
  expect(json.models.map(({ model }: { model: string }) => model)).toContain('haiku')
  expect(json.totals.cost_usd).toBeGreaterThanOrEqual(1.5)
})
