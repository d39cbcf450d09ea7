import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { removeFolder } from '../../src/lib/remove-folder.js'
import { statusLine } from '../../src/testing/http-server.js'
import { installDebianPackage } from '../harness/debian-package.js'
import { BATON, PREFIX, REPOSITORY } from '../harness/paths.js'
import { alive, end } from '../harness/processes.js'
import { authorized } from '../harness/server-token.js'
import { PATIENCE_MS, until } from '../harness/wait.js'

export const CHROMIUM = '/usr/bin/chromium'
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const FIXTURES = path.join(REPOSITORY, 'test/fixtures/claude-code/2.1.325/events')

/** A home with a real server and a real browser, shared by the tests of one file. */
export interface PageStage {
  browser: Browser
  url: string
  batonHome: string
  /**
   * Opens a page and logs it in with a ticket, as `baton open` does, unless `key` is false. Errors
   * of the page are collected in `faults`.
   */
  open(path?: string, options?: OpenOptions): Promise<OpenPage>
  /** Returns a ticket that logs in one browser once. */
  ticket(): Promise<string>
  /**
   * Sends a recorded hook payload with these fields replaced, as from a client with this
   * environment.
   */
  hook(
    fixture: string,
    session: string,
    change?: Record<string, unknown>,
    env?: Record<string, string>,
  ): Promise<unknown>
  /** Sends a status line with this number of used tokens. */
  status(session: string, used: number, change?: Record<string, unknown>): Promise<void>
  stopServer(signal?: NodeJS.Signals): Promise<void>
  /** Restarts the server on the same port. */
  startServer(): Promise<void>
  close(): Promise<void>
}

export interface OpenOptions {
  key?: boolean
  width?: number
  theme?: 'light' | 'dark'
  context?: BrowserContext
}

export interface OpenPage {
  page: Page
  context: BrowserContext
  /** Console errors, uncaught exceptions and failed requests of the page. */
  faults: string[]
}

export async function pageStage(): Promise<PageStage> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), `${PREFIX}page-`)))
  const places = { home: path.join(dir, 'home'), project: path.join(dir, 'shop'), baton: path.join(dir, 'baton') }
  for (const folder of [places.home, places.project]) mkdirSync(folder)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: places.home,
    BATON_HOME: places.baton,
    CLAUDE_CONFIG_DIR: `${places.home}/.claude`,
  }
  let server = await serve(env, 0)
  const port = Number(new URL(server.url).port)
  const browser = await launchChromium()
  let stamp = 1_000

  const post = async (route: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
    const response = await fetch(server.url + route, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...authorized(places.baton), ...headers },
    })
    if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`)
    return response.json().catch(() => null)
  }
  const ticket = async (): Promise<string> => {
    return ((await post('/api/tickets', {}, { 'content-type': 'application/json' })) as { ticket: string }).ticket
  }
  return {
    browser,
    url: server.url,
    batonHome: places.baton,
    ticket,
    async open(at = '/', options = {}) {
      const { key = true, width = 1280, theme = 'light' } = options
      const context =
        options.context ?? (await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme }))
      context.setDefaultTimeout(PATIENCE_MS)
      const page = await context.newPage()
      const faults: string[] = []
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      page.on('pageerror', (error) => faults.push(error.message))
      const usesTicket = key && options.context === undefined
      await page.goto(`${server.url}${at}${usesTicket ? `#ticket=${await ticket()}` : ''}`)
      // The page is loaded before its ticket is exchanged for a key. A test that opened the next
      // address at once would cancel the exchange, and that page would stay locked.
      if (usesTicket)
        await until('the page has its key', () => page.evaluate(`localStorage.getItem('baton.key') !== null`))
      return { page, context, faults }
    },
    async hook(fixture, session, change = {}, env = {}) {
      const { kind, body } = JSON.parse(readFileSync(path.join(FIXTURES, `${fixture}.json`), 'utf8'))
      const own = { session_id: session, cwd: places.project, transcript_path: `${places.home}/${session}.jsonl` }
      const headers = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [`x-env-${name.toLowerCase()}`, value]),
      )
      return post(`/signals/claude-code/${kind}`, { ...body, ...own, ...change }, headers)
    },
    async status(session, used, change = {}) {
      stamp += 1_000
      const own = { cwd: places.project, workspace: { current_dir: places.project, project_dir: places.project } }
      await post('/signals/claude-code/status-line', statusLine(session, used, stamp, { ...own, ...change }))
    },
    async stopServer(signal = 'SIGKILL') {
      process.kill(server.pid, signal)
      await until('the server ends', () => !alive(server.pid))
    },
    async startServer() {
      server = await serve(env, port)
    },
    async close() {
      await browser.close()
      if (alive(server.pid)) await end(server.pid)
      removeFolder(dir)
    },
  }
}

export function launchChromium(): Promise<Browser> {
  needChromium()
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

/** Returns axe's serious and critical findings, one line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // axe is injected through the debugger, because the page's content policy blocks it.
  await page.evaluate(source)
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()')
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

interface Violation {
  id: string
  impact: string
  nodes: { target: unknown[] }[]
}

/** Returns by how many pixels the page scrolls horizontally. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

async function serve(env: Record<string, string>, port: number): Promise<{ url: string; pid: number }> {
  const child = spawn(process.execPath, [BATON, 'serve', '--port', String(port), '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until('the server listens', () => said.includes('\n'))
  return { url: (JSON.parse(said) as { url: string }).url, pid: child.pid! }
}

export function needChromium(): void {
  if (existsSync(CHROMIUM)) return
  installDebianPackage('chromium')
  if (!existsSync(CHROMIUM)) throw new Error('The tests of the page need Debian’s chromium: apt-get install chromium')
}
