import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startModel } from '../../../src/model/model.js'
import type { ScriptInput } from '../../../src/model/script.js'
import { type Home, makeHome } from '../../harness/home.js'
import { runPrint } from '../../harness/run-print.js'
import { runSdk } from '../../harness/run-sdk.js'
import { startTui } from '../../harness/tui.js'
import { until } from '../../harness/wait.js'

/** The session and process that one hook of the client saw. */
interface Seen {
  event: string
  sessionId: string
  cwd: string
  /** CLAUDE_PID. */
  pid: number
  /** The registry's entry of that process; null when there is none. */
  entry: { pid: number; sessionId: string; cwd: string; kind: string } | null
  ancestors: number[]
}

const HOOK = `
const fs = require('node:fs'), path = require('node:path')
const body = JSON.parse(fs.readFileSync(0, 'utf8'))
const pid = Number(process.env.CLAUDE_PID)
let entry = null
const file = path.join(process.env.CLAUDE_CONFIG_DIR, 'sessions', pid + '.json')
try { entry = JSON.parse(fs.readFileSync(file, 'utf8')) } catch {}
const ancestors = []
for (let at = process.ppid; at > 1; ) {
  ancestors.push(at)
  const stat = fs.readFileSync('/proc/' + at + '/stat', 'utf8')
  at = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
const { hook_event_name: event, session_id: sessionId, cwd } = body
fs.appendFileSync(process.argv[2], JSON.stringify({ event, sessionId, cwd, pid, entry, ancestors }) + '\\n')
`

async function homeWithHooks(
  steps: ScriptInput['steps'] = [],
): Promise<{ home: Home; seen(): Seen[]; stops(): Seen[] }> {
  const model = await startModel({ script: { steps, rest: { text: 'Done.', used: 20_008 } } })
  const home = makeHome({ model })
  home.onDispose(() => model.close())
  const [script, log] = [path.join(home.dir, 'hook.cjs'), path.join(home.dir, 'hooks.jsonl')]
  writeFileSync(script, HOOK)
  writeFileSync(log, '')
  const hooks = [{ hooks: [{ type: 'command', command: `"${process.execPath}" "${script}" "${log}"` }] }]
  home.settings({ hooks: { Stop: hooks, SessionStart: hooks, UserPromptSubmit: hooks } })
  const seen = (): Seen[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Seen)
  return { home, seen, stops: () => seen().filter(({ event }) => event === 'Stop') }
}

const MODEL = 'claude-opus-4-6'

/**
 * The facts that Baton relies on when it decides whether a brief comes from the client that shows
 * the session.
 */
function expectListed(seen: readonly Seen[], home: Home): void {
  for (const { entry, pid, sessionId, ancestors } of seen) {
    expect(entry).toMatchObject({ pid, sessionId, cwd: home.project })
    expect(ancestors).toContain(pid)
  }
}

test('an interactive client registers the session of its hooks, also after cd and /clear', async () => {
  const { home, seen, stops } = await homeWithHooks([{ bash: 'mkdir -p below && cd below', used: 20_008 }])
  const tui = await startTui(home, { model: MODEL })
  await tui.submit('Change the folder.')
  await until('the first turn ends', () => stops().length === 1)
  await tui.waitIdle()
  await tui.submit('/clear')
  await until('it is cleared', () => seen().filter(({ event }) => event === 'SessionStart').length === 2)
  await tui.submit('Two.')
  await until('the second turn ends', () => stops().length === 2)
  await tui.exit()
  const first = stops()[0]!
  const resumed = await startTui(home, { model: MODEL, args: ['--resume', first.sessionId] })
  await resumed.submit('Three.')
  await until('the third turn ends', () => stops().length === 3)
  expect(stops().map(({ sessionId }) => sessionId === first.sessionId)).toEqual([true, false, true])
  expect(stops().map(({ pid }) => pid)).toEqual([tui.pid, tui.pid, resumed.pid])
  expect(first.cwd).toBe(path.join(home.project, 'below'))
  expectListed(seen(), home)
})

test('a print run and a run of the Agent SDK list themselves with the session of their hooks', async () => {
  const { home, seen, stops } = await homeWithHooks()
  const print = await runPrint(home, { prompt: 'One.', model: MODEL })
  const sdk = await runSdk(home, { prompt: 'Two.' })
  expect(stops().map(({ sessionId }) => sessionId)).toEqual([print.sessionId, sdk.sessionId])
  expectListed(seen(), home)
})
