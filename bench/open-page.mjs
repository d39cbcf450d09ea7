import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { tokenOf } from './machine.mjs'
import { installWatch } from './page-watch.mjs'

export const CHROMIUM = process.env.BATON_CHROMIUM ?? '/usr/bin/chromium'
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

/** Path of a Chromium program. Null when none is installed. */
export async function launchBrowser() {
  return existsSync(CHROMIUM) ? chromium.launch({ executablePath: CHROMIUM, args: FLAGS }) : null
}

/** Opens a new browser profile that holds only the page's key. */
export async function openPage(browser, url, key) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(`localStorage.setItem('baton.key', ${JSON.stringify(key)})`)
  await context.addInitScript(installWatch)
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/**
 * Requests a key the way a browser does. Unlike the token, it stays valid when the server
 * restarts.
 */
export async function keyOf(machine, { url }) {
  const headers = { Authorization: `Bearer ${tokenOf(machine)}`, 'Content-Type': 'application/json' }
  const post = async (path, body) =>
    (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  const { ticket } = await post('/api/tickets', {})
  return (await post('/api/enter', { ticket })).key
}
