import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { findPastedText, readComposer } from '../../src/agents/claude-code/composer.js'
import { type RegisteredClient, readRegisteredClient } from '../../src/agents/claude-code/registry.js'
import type { Terminal } from '../../src/contract/terminal.js'
import { pastePrompt, typeSlashCommand } from '../../src/delivery/channels/tmux.js'
import { readPane } from '../../src/delivery/channels/tmux-pane.js'
import { visibleTexts } from '../../src/model/log.js'
import { startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { mainRequests, stage } from '../harness/stage.js'
import { startTui, type Tui, type TuiOptions } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

const terminalOf = (
  home: Home,
  tui: Tui,
  change: (live: RegisteredClient) => Partial<RegisteredClient> = () => ({}),
): Terminal => ({
  live: () => {
    const live = readRegisteredClient(home.configDir, tui.pid)
    return live && { ...live, ...change(live) }
  },
  composer: readComposer,
  findPasted: findPastedText,
})

async function client(script: ScriptInput, options: TuiOptions = {}, shared = false) {
  const model = await startModel({ script })
  const home = makeHome({ model, shared })
  if (shared) home.onDispose(() => model.close())
  else onTestFinished(() => model.close())
  const tui = await startTui(home, { model: MODEL, ...options })
  const at = terminalOf(home, tui)
  const composer = async () => {
    const look = (await readPane({ socket: tui.socket, pane: tui.pane }))!
    return readComposer(look.screen, look.cursor)
  }
  await until('an empty composer', async () => (await composer()).state === 'empty')
  const tmux = (...args: string[]): string => execFileSync('tmux', ['-S', tui.socket, ...args], { encoding: 'utf8' })
  const draft = (text: string) =>
    until(`the draft is ${text}`, async () => {
      const now = await composer()
      return now.state === 'draft' && now.text === text
    })
  return { model, home, tui, at, composer, tmux, draft, session: tui.sessionId()! }
}

let shared: ReturnType<typeof client> | null = null
afterAll(async () => (await shared)?.home.dispose())

/** Returns the client that tests of this file share, idle and with an empty composer. */
async function sharedClient() {
  shared ??= client({ rest: 'Done.' }, {}, true)
  const it = await shared
  await until('an empty composer', async () => {
    if ((await it.composer()).state === 'empty') return true
    await it.tui.key('C-u')
    await it.tui.key('BSpace')
    return false
  })
  const before = mainRequests(it.model).length
  return { ...it, requests: () => mainRequests(it.model).slice(before) }
}

test('/clear is typed into an idle client, and Baton’s own hooks see the fresh session begin', async () => {
  const it = await stage({ rest: 'Done.' }, { server: true })
  const tui = await startTui(it.home, { model: MODEL })
  const at = terminalOf(it.home, tui)
  const first = tui.sessionId()!
  expect(await pastePrompt(at, '[baton] work', { sessionId: first })).toEqual({ sent: true })
  await it.model.waitFor((entry) => entry.kind === 'main')
  await until(
    'the turn is over',
    () => at.live()?.status === 'idle' && it.home.transcript(first)?.includes('turn_duration'),
  )

  expect(await typeSlashCommand(at, '/clear', { sessionId: first })).toEqual({ sent: true })
  const second = await until('the fresh session', () => at.live()?.sessionId !== first && at.live()!.sessionId)
  const cleared = await until('its hook', async () => (await it.events('session_started', second))[0])
  expect(cleared.session_id).toBe(second)
  expect((await it.show(second)).chain.map((link) => link.session_id)).toEqual([first, second])

  // The screen may still show the frame from before the clear.
  expect(await pastePrompt(at, '[baton] go on', { sessionId: second })).toEqual({ sent: true })
  await it.model.waitFor((entry) => entry.kind === 'main' && entry.session_id === second)
  expect(visibleTexts(mainRequests(it.model, second)[0]!).at(-1)).toBe('[baton] go on')
})

test('a prompt of 20 kB and many lines arrives complete as one prompt', async () => {
  const { requests, tui, at, session } = await sharedClient()
  const lines = Array.from({ length: 400 }, (_, i) => `${i}: /x !y "ünï" ${'z'.repeat(34)}`)
  const text = `[baton] begin\n${lines.join('\n\n')}`
  expect(text.length).toBeGreaterThan(20_000)
  const pastedAt = Date.now()
  expect(await pastePrompt(at, text, { sessionId: session })).toEqual({ sent: true })
  await tui.waitTurnEnd(pastedAt)
  expect(requests()).toHaveLength(1)
  expect(visibleTexts(requests()[0]!).at(-1)).toBe(text)
})

test('escape sequences in a prompt cannot end the paste and become keys', async () => {
  const { requests, tui, at, session } = await sharedClient()
  const pastedAt = Date.now()
  expect(await pastePrompt(at, '[baton] a\x1b[201~\r!touch x\r\x03b', { sessionId: session })).toEqual({ sent: true })
  await tui.waitTurnEnd(pastedAt)
  expect(requests()).toHaveLength(1)
  expect(visibleTexts(requests()[0]!).at(-1)).toBe('[baton] a\n!touch x\nb')
})

test('text that looks like a command is refused before the terminal is read', async () => {
  const nobody: Terminal = { live: () => expect.unreachable(), composer: readComposer, findPasted: findPastedText }
  for (const text of ['/clear', ' \n!rm -rf x', '\x1b[0m/exit', ' ']) {
    expect(await pastePrompt(nobody, text, { sessionId: 's' })).toMatchObject({
      sent: false,
      why: 'text',
      left: 'nothing',
    })
  }
  for (const text of ['clear', '/clear\nx', '!ls', '/', '/cl\x7f']) {
    expect(await typeSlashCommand(nobody, text, { sessionId: 's' })).toMatchObject({
      sent: false,
      why: 'text',
      left: 'nothing',
    })
  }
})

test('a draft of any kind stays unchanged, and nothing is typed', async () => {
  const { requests, tui, at, composer, draft, tmux, session } = await sharedClient()
  const drafts: [keys: string[], text: string][] = [
    [['fix the login'], 'fix the login'],
    [['fix', 'M-Enter', 'the login'], 'fix\nthe login'],
    [[' '], ' '],
    // Shell mode.
    [['!'], '!'],
  ]
  for (const [keys, text] of drafts) {
    await until('an empty composer', async () => {
      if ((await composer()).state === 'empty') return true
      await tui.key('C-u')
      await tui.key('BSpace')
      return false
    })
    for (const key of keys) await (key === 'M-Enter' ? tui.key(key) : tui.type(key))
    await draft(text)
    expect(await typeSlashCommand(at, '/clear', { sessionId: session })).toEqual({
      sent: false,
      why: 'draft',
      detail: text,
      left: 'nothing',
    })
    expect(await pastePrompt(at, '[baton] go', { sessionId: session })).toMatchObject({ sent: false, why: 'draft' })
    await draft(text)
  }
  expect(at.live()).toMatchObject({ sessionId: session, status: 'idle' })
  expect(requests()).toEqual([])
  expect(tmux('list-buffers')).toBe('')
})

test('an open permission dialog is never approved, and the draft behind it stays unchanged', async () => {
  const script = { steps: [{ bash: 'touch asked.txt', hold: 'ask' }, 'Done.'] }
  const { home, model, tui, at, draft, session } = await client(script, {
    bypass: false,
    args: ['--permission-mode', 'default'],
  })
  expect(await pastePrompt(at, '[baton] go', { sessionId: session })).toEqual({ sent: true })
  await tui.waitStatus('busy')
  await tui.type('my draft')
  await draft('my draft')
  model.release('ask')
  await tui.waitStatus('waiting')
  await tui.waitFor(/1\. Yes/)
  for (const queue of [false, true]) {
    expect(await pastePrompt(at, '[baton] on', { sessionId: session, queue })).toMatchObject({
      sent: false,
      why: 'waiting',
      detail: 'permission prompt',
    })
  }
  const lying = terminalOf(home, tui, () => ({ status: 'idle' }))
  expect(await pastePrompt(lying, '[baton] on', { sessionId: session })).toMatchObject({
    sent: false,
    why: 'screen',
    left: 'nothing',
  })
  expect(await typeSlashCommand(lying, '/clear', { sessionId: session })).toMatchObject({
    sent: false,
    why: 'screen',
    left: 'nothing',
  })
  expect(tui.registry()?.status).toBe('waiting')
  expect(existsSync(path.join(home.project, 'asked.txt'))).toBe(false)
  await tui.dismissDialog()
  await tui.waitStatus('idle')
  await draft('my draft')
  expect(existsSync(path.join(home.project, 'asked.txt'))).toBe(false)
})

test('during a turn a command is refused, and so is a prompt unless it may be queued', async () => {
  const { home, model, tui, at, session } = await client({
    steps: [{ bash: 'until [ -e go ]; do sleep 0.1; done' }, 'Done.'],
  })
  expect(await pastePrompt(at, '[baton] begin', { sessionId: session })).toEqual({ sent: true })
  await tui.waitStatus('busy')
  expect(await typeSlashCommand(at, '/clear', { sessionId: session })).toMatchObject({ sent: false, why: 'busy' })
  expect(await pastePrompt(at, '[baton] later', { sessionId: session })).toMatchObject({ sent: false, why: 'busy' })
  expect(await pastePrompt(at, '[baton] queued', { sessionId: session, queue: true })).toEqual({ sent: true })
  writeFileSync(path.join(home.project, 'go'), '')
  await until('the turn is over', () => mainRequests(model).length > 1 && at.live()?.status === 'idle')
  expect(JSON.stringify(mainRequests(model)[1]!.body)).toContain('[baton] queued')
  expect(at.live()?.sessionId).toBe(session)
})

test.each([
  ['before it is pasted', 'empty', 'y/clear'],
  ['before Enter', 'draft', '/cleary'],
] as const)(
  'when the user types %s, nothing is submitted, Baton’s text is removed and the user’s stays',
  async (_, moment, seen) => {
    const { tui, at, tmux, draft, requests, session } = await sharedClient()
    let typed = false
    const raced: Terminal = {
      ...at,
      composer: (screen, cursor) => {
        const now = readComposer(screen, cursor)
        if (!typed && now.state === moment) {
          typed = true
          tmux('send-keys', '-t', tui.pane, '-l', 'y')
          // Worst cases: before the paste the user's key is not drawn yet, before Enter it is.
          if (moment === 'draft') while (!tmux('capture-pane', '-p', '-t', tui.pane).includes('/cleary')) {}
        }
        return now
      },
    }
    const answer = await typeSlashCommand(raced, '/clear', { sessionId: session })
    expect(answer).toMatchObject({ sent: false, left: 'nothing' })
    if (!answer.sent) expect([`raced: ${seen}`, 'draft: y']).toContain(`${answer.why}: ${answer.detail}`)
    await draft('y')
    expect(at.live()?.sessionId).toBe(session)
    expect(requests()).toEqual([])
  },
)

test('copy mode, another pane or session and a stopped client are refused with their reason', async () => {
  const { home, tui, at, tmux, composer, draft, session } = await sharedClient()
  const refusal = async (terminal: Terminal, sessionId = session) => {
    const typed = await typeSlashCommand(terminal, '/clear', { sessionId })
    return typed.sent ? 'sent' : `${typed.why}, ${typed.left} left`
  }
  tmux('copy-mode', '-t', tui.pane)
  expect(await refusal(at)).toBe('copy-mode, nothing left')
  tmux('send-keys', '-t', tui.pane, '-X', 'cancel')

  // Each pane is a new window: a client in a resized pane may not redraw before the next key.
  const openWindow = (...command: string[]): string =>
    tmux('new-window', '-d', '-P', '-F', '#{pane_id}', ...command).trim()
  const other = openWindow('cat')
  expect(await refusal(terminalOf(home, tui, () => ({ tmux: { session: 'x', window: '@0', pane: other } })))).toBe(
    'other-pane, nothing left',
  )
  expect(tmux('capture-pane', '-p', '-t', other).trim()).toBe('')
  tmux('set-option', '-w', '-t', tui.pane, 'synchronize-panes', 'on')
  expect(await refusal(at)).toBe('barred, nothing left')
  tmux('kill-pane', '-t', other)
  tmux('set-option', '-w', '-t', tui.pane, 'synchronize-panes', 'off')

  expect(await refusal(at, '00000000-0000-4000-8000-000000000000')).toBe('other-session, nothing left')
  expect(await refusal(terminalOf(home, tui, () => ({ status: 'unknown' })))).toBe('status, nothing left')

  // A program in the background of a shell, like a client after Ctrl-Z.
  const shell = openWindow('env', 'PS1=> ', 'bash', '--norc')
  const file = path.join(home.dir, 'behind')
  tmux('send-keys', '-t', shell, `sleep 60 & echo $! > ${file}`, 'Enter')
  const pid = await until('it runs', () => existsSync(file) && Number(readFileSync(file, 'utf8')))
  const behind = terminalOf(home, tui, () => ({ pid, tmux: { session: 'x', window: '@0', pane: shell } }))
  expect(await refusal(behind)).toBe('behind, nothing left')
  tmux('kill-pane', '-t', shell)
  await tui.type('x')
  await draft('x')
  await tui.key('BSpace')
  await until('an empty composer', async () => (await composer()).state === 'empty')
  expect(at.live()).toMatchObject({ sessionId: session, status: 'idle' })
  expect(tmux('list-buffers')).toBe('')
  // The last test of the shared client ends it.
  await tui.kill()
  expect(await refusal(at)).toBe('no-client, nothing left')
})
