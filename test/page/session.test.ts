import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageStage, pageStage, seriousFaults, sideways } from './browser.js'

let stage: PageStage
beforeAll(async () => {
  stage = await pageStage()
  await stage.hook('print.SessionStart', 'climber')
  await stage.hook('print.UserPromptSubmit', 'climber', { prompt: 'Fix the login' })
  for (const used of [20_000, 45_000, 70_000]) await stage.status('climber', used)
  await stage.hook('print.SessionStart', 'compacted')
  for (const used of [80_000, 140_000]) await stage.status('compacted', used)
  await compact('compacted', 'keep the old endpoints')
})

async function compact(session: string, summary: string): Promise<void> {
  await stage.hook('compaction.PreCompact', session)
  await stage.hook('compaction.SessionStart', session)
  await stage.hook('compaction.PostCompact', session, { compact_summary: summary })
  await stage.status(session, 21_000)
}
afterAll(() => stage.close())

describe('the page of a session', () => {
  test('the address of a session opens its figures, gauge with levels, curve and timeline', async () => {
    const { page, faults } = await stage.open('/sessions/climber')
    await page.getByRole('heading', { level: 1, name: /^Fix the login/ }).waitFor()
    await page.locator('.measure-number').getByText('42%').waitFor()
    expect(await page.locator('.gauge-scale span').allTextContents()).toEqual([
      'notice',
      'warning',
      'handoff',
      'critical',
    ])
    await page.locator('.curve-host[data-readings="3"]').waitFor()
    await page.locator('.timeline-entry[data-type=session_started]').waitFor()
    expect(faults).toEqual([])
    await page.close()
  })

  test('a warning and a compaction appear on the session’s page live, the summary as text only', async () => {
    const { page, faults } = await stage.open('/sessions/climber')
    await page.locator('.timeline-entry[data-type=session_started]').waitFor()
    await stage.status('climber', 120_000)
    await page.locator('.timeline-warning').getByText('28%').waitFor()
    await page.locator('.measure-number').getByText('72%').waitFor()
    await page.locator('.curve-host[data-readings="4"]').waitFor()

    await stage.hook('compaction.PreCompact', 'climber')
    await page.locator('.compaction-running[data-used="72"]').waitFor()
    await page.locator('h1').getByText('compacting').waitFor()

    const summary = '<script>window.broken = 1</script><img src=x onerror="window.broken = 1"> keep the old endpoints'
    await stage.hook('compaction.SessionStart', 'climber')
    await stage.hook('compaction.PostCompact', 'climber', { compact_summary: summary })
    await stage.status('climber', 21_000)
    const entry = page.locator('.compaction[data-outcome=completed] .compaction-head').filter({ hasText: '120k' })
    await entry.waitFor()
    expect(await page.locator('.compaction-running').count()).toBe(0)
    expect(await entry.getAttribute('aria-expanded')).toBe('false')
    await entry.click()
    await page.locator('.compaction-summary').getByText(summary).waitFor()
    expect(await page.evaluate("'broken' in window")).toBe(false)
    expect(faults).toEqual([])
    await page.close()
  })

  test('a message sent from the session’s page is shown as queued and can be withdrawn', async () => {
    const { page } = await stage.open('/sessions/climber')
    const box = page.locator('.send-box textarea')
    await box.fill('Stop after this test.')
    await page.locator('.send-box select').selectOption('important')
    await page.locator('.send-box button[type=submit]').click()
    const message = (status: string) =>
      page.locator(`.message[data-status=${status}]`).filter({ hasText: 'Stop after this test.' })
    await message('queued').waitFor()
    expect(await box.inputValue()).toBe('')
    await message('queued').locator('[data-act=withdraw]').click()
    await message('cancelled').waitFor()
    await page.close()
  })

  test('the session’s page requests, shows and cancels a handoff, and switches Baton off and on', async () => {
    const { page, context } = await stage.open('/sessions/climber')
    const confirm = page.getByRole('dialog').locator('[data-act=yes]')
    await page.locator('[data-act=handoff]').click()
    await confirm.click()
    await page.locator('.strip[data-handoff=requested]').waitFor()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.session-about .id').filter({ hasText: 'claude --resume' }).locator('.copy').click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('claude --resume climber')
    await page.locator('[data-act=cancel-handoff]').click()
    await confirm.click()
    await page.locator('.strip[data-handoff]').waitFor({ state: 'detached' })
    await page.locator('.timeline-entry[data-type=handoff_cancelled]').waitFor()
    await page.locator('[data-act=off]').click()
    await page.locator('h1 .sign').waitFor()
    await page.locator('[data-act=on]').click()
    await page.locator('[data-act=off]').waitFor()
    expect(await page.locator('h1 .sign').count()).toBe(0)
    await page.close()
  })

  test('the curve of a session can be zoomed and reset', async () => {
    const { page } = await stage.open('/sessions/climber')
    const zoomOut = page.getByRole('button', { name: 'Zoom out' })
    // Wait for the readings, because an empty curve cannot be zoomed.
    await page.locator('.curve-host[data-readings]:not([data-readings="0"])').waitFor()
    await page.locator('.curve canvas').waitFor()
    expect(await zoomOut.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(() => zoomOut.isDisabled()).toBe(false)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await expect.poll(() => zoomOut.isDisabled()).toBe(true)
    await page.locator('.curve-host .u-over').hover()
    await page.locator('.curve-reading').getByText('%').waitFor()
    await page.close()
  })

  test('the page of an unknown session says so and what to do', async () => {
    const { page } = await stage.open('/sessions/nobody')
    await page.getByRole('alert').waitFor()
    await page.close()
  })

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'the page of a session in the %s theme at %i pixels has no serious axe finding and no sideways scrolling',
    async (theme, width) => {
      const { page, faults, context } = await stage.open('/sessions/compacted', { theme, width })
      await page.locator('.compaction[data-outcome=completed] .compaction-head').click()
      await page.locator('.curve canvas').waitFor()
      expect(await seriousFaults(page)).toEqual([])
      expect(await sideways(page)).toBeLessThanOrEqual(0)
      expect(faults).toEqual([])
      await context.close()
    },
  )
})
