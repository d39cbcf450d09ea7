import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { tokenOf } from './machine.mjs'
import { installWatch } from './page-watch.mjs'

export const CHROMIUM = process.env.BATON_CHROMIUM ?? '/usr/bin/chromium'
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

/** null: there is none here. */
export async function launchBrowser() {
  return existsSync(CHROMIUM) ? chromium.launch({ executablePath: CHROMIUM, args: FLAGS }) : null
}

/** A browser that has never been here, but for its key. */
export async function openPage(browser, url, key) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(`localStorage.setItem('baton.key', ${JSON.stringify(key)})`)
  await context.addInitScript(installWatch)
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** A key as a browser gets it: unlike the token it outlives the server. */
export async function keyOf(machine, { url }) {
  const headers = { Authorization: `Bearer ${tokenOf(machine)}`, 'Content-Type': 'application/json' }
  const post = async (path, body) =>
    (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  const { ticket } = await post('/api/tickets', {})
  return (await post('/api/enter', { ticket })).key
}
