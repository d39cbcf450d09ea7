import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageStage, pageStage, seriousFaults, sideways } from './browser.js'

let stage: PageStage
beforeAll(async () => {
  stage = await pageStage()
  await stage.hook('print.SessionStart', 'climber')
  await stage.hook('print.UserPromptSubmit', 'climber')
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
    await page.getByRole('heading', { level: 1, name: /^shop/ }).waitFor()
    await page.locator('.measure-number').getByText('42%').waitFor()
    expect(await page.locator('.gauge-scale span').allTextContents()).toEqual([
      'notice',
      'warning',
      'handoff',
      'critical',
    ])
    await page.getByRole('img', { name: /climb of this session in 3 readings/ }).waitFor()
    await page.getByText('Session started').waitFor()
    expect(faults).toEqual([])
    await page.close()
  })

  test('a warning and the start and end of a compaction appear on the session’s page without a reload, the summary as text only', async () => {
    const { page, faults } = await stage.open('/sessions/climber')
    await page.getByText('Session started').waitFor()
    await stage.status('climber', 120_000)
    await page.getByText('28% context remaining before compaction').waitFor()
    await page.locator('.measure-number').getByText('72%').waitFor()
    await page.getByRole('img', { name: /in 4 readings/ }).waitFor()

    await stage.hook('compaction.PreCompact', 'climber')
    await page.getByText(/Automatic compaction under way \(72% context used\), please wait/).waitFor()
    await page.locator('h1').getByText('compacting').waitFor()

    const summary = '<script>window.broken = 1</script><img src=x onerror="window.broken = 1"> keep the old endpoints'
    await stage.hook('compaction.SessionStart', 'climber')
    await stage.hook('compaction.PostCompact', 'climber', { compact_summary: summary })
    await stage.status('climber', 21_000)
    const entry = page.getByRole('button', { name: /^Compacted 120k tokens/ })
    await entry.waitFor()
    expect(await page.getByText('please wait').count()).toBe(0)
    expect(await entry.getAttribute('aria-expanded')).toBe('false')
    await entry.click()
    await page.getByRole('region', { name: 'Summary text' }).getByText(summary).waitFor()
    expect(await page.evaluate("'broken' in window")).toBe(false)
    expect(faults).toEqual([])
    await page.close()
  })

  test('a message sent from the session’s page is shown as queued and can be withdrawn', async () => {
    const { page } = await stage.open('/sessions/climber')
    const box = page.getByRole('textbox', { name: 'Message to the agent' })
    await box.fill('Stop after this test.')
    await page.getByRole('combobox', { name: 'When it is delivered' }).selectOption('important')
    await page.getByRole('button', { name: 'Send' }).click()
    const message = page.locator('.message').filter({ hasText: 'Stop after this test.' })
    await message.getByText('queued').waitFor()
    expect(await box.inputValue()).toBe('')
    await message.getByRole('button', { name: 'Take it back' }).click()
    await message.getByText('cancelled').waitFor()
    await page.close()
  })

  test('the session’s page requests, shows and cancels a handoff, and switches Baton off and on', async () => {
    const { page, context } = await stage.open('/sessions/climber')
    await page.getByRole('button', { name: 'Hand over now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Hand over' }).click()
    await page.locator('.strip').getByText('Handoff 1').waitFor()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the command that resumes it' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('claude --resume climber')
    await page.getByRole('button', { name: 'Call it off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Call it off' }).click()
    await page.getByText('Handoff called off').waitFor()
    await page.getByRole('button', { name: 'Silence' }).click()
    await page.locator('h1').getByText('silenced').waitFor()
    await page.getByRole('button', { name: 'Wake' }).click()
    await page.getByRole('button', { name: 'Silence' }).waitFor()
    await page.close()
  })

  test('the curve of a session can be zoomed and reset', async () => {
    const { page } = await stage.open('/sessions/climber')
    const further = page.getByRole('button', { name: 'Further' })
    // Wait for the readings, because an empty curve cannot be zoomed.
    await page.getByRole('img', { name: /climb of this session in \d+ readings/ }).waitFor()
    await page.locator('.curve canvas').waitFor()
    expect(await further.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Closer' }).click()
    await expect.poll(() => further.isDisabled()).toBe(false)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await expect.poll(() => further.isDisabled()).toBe(true)
    await page.locator('.curve-host .u-over').hover()
    await page.locator('.curve-reading').getByText('of the compaction point').waitFor()
    await page.close()
  })

  test('without a key the page of a session is locked and shows nothing of it', async () => {
    const { page, faults, context } = await stage.open('/sessions/compacted', { key: false })
    await page.getByRole('heading', { level: 1, name: 'Locked' }).waitFor()
    expect(await page.getByRole('button', { name: 'Hand over now' }).count()).toBe(0)
    expect(await page.getByText('compacted').count()).toBe(0)
    expect(faults).toEqual([])
    await context.close()
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
      await page.getByRole('button', { name: /^Compacted/ }).click()
      await page.locator('.curve canvas').waitFor()
      expect(await seriousFaults(page)).toEqual([])
      expect(await sideways(page)).toBeLessThanOrEqual(0)
      expect(faults).toEqual([])
      await context.close()
    },
  )
})
