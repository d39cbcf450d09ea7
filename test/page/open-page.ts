import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { createTestHome, type TestHome } from '../../src/testing/cli-home.js'
import { PATIENCE_MS } from '../harness/wait.js'
import { launchChromium, seriousFaults } from './browser.js'

/** A machine with the real server and a real browser that is logged in. */
export interface Opened {
  fixture: TestHome
  url: string
  page: Page
  /** Errors of the page so far, including injected scripts that ran. */
  faults: string[]
  /** Loads another page, as if the user typed its address. */
  go(path: string): Promise<void>
  /** Checks that no injected script ran, no error occurred and axe finds nothing serious. */
  expectSound(): Promise<void>
}

let browser: Promise<Browser> | null = null

/** Closes the shared browser. Call it in `afterAll`. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = null
}

interface Options {
  config?: string
  /** Prepares the home before the server starts and returns additional environment variables. */
  prepare?(fixture: TestHome): Record<string, string>
  path?: string
}

export async function openPage(options: Options = {}): Promise<Opened> {
  const fixture = createTestHome()
  if (options.config) fixture.put(join(fixture.env.BATON_HOME!, 'config.yaml'), options.config)
  const server = fixture.start(['serve', '--port', '0', '--json'], { env: options.prepare?.(fixture) ?? {} })
  const { url } = JSON.parse(await server.firstLine()) as { url: string }
  browser ??= launchChromium()
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 } })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => {
    faults.push(`a script said ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(`${url}${options.path ?? '/'}#ticket=${await ticketOf(fixture, url)}`)
  await page.locator('.connection[data-status=live]').waitFor()
  return {
    fixture,
    url,
    page,
    faults,
    go: async (path) => {
      await page.goto(`${url}${path}`)
      await page.locator('.connection[data-status=live]').waitFor()
    },
    expectSound: async () => {
      expect(await seriousFaults(page)).toEqual([])
      expect(await page.locator('main :is(script, img, iframe, object)').count()).toBe(0)
      expect(faults).toEqual([])
    },
  }
}

async function ticketOf(fixture: TestHome, url: string): Promise<string> {
  const headers = { ...fixture.authorized(), 'Content-Type': 'application/json' }
  const reply = await fetch(`${url}/api/tickets`, { method: 'POST', headers })
  return ((await reply.json()) as { ticket: string }).ticket
}
