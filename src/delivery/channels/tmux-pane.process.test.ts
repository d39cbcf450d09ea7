import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PATIENCE_MS } from '../../../test/harness/wait.js'
import { type PaneState, pasteBuffer, pressKeys, readPane, type TmuxPane } from './tmux-pane.js'

let dir: string
let place: TmuxPane
const tmux = (...args: string[]): string =>
  execFileSync('tmux', ['-S', join(dir, 's'), '-f', '/dev/null', ...args], { encoding: 'utf8' })
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-tmux-'))
  tmux('new-session', '-d', '-x', '60', '-y', '12', 'printf "\\033[2m❯ ünï\\033[0m\\n"; exec cat')
  place = { socket: join(dir, 's'), pane: tmux('display-message', '-p', '#{pane_id}').trim() }
})
afterEach(() => {
  tmux('kill-server')
  rmSync(dir, { recursive: true })
})

const look = (fits: (now: PaneState) => boolean): Promise<PaneState> =>
  vi.waitFor(async () => {
    const now = await readPane(place)
    if (now === null || !fits(now)) throw new Error(JSON.stringify(now))
    return now
  }, PATIENCE_MS)

test('reading a pane returns state, cursor and special characters in every locale', async () => {
  const locale = { LANG: process.env.LANG, LC_ALL: process.env.LC_ALL }
  Object.assign(process.env, { LANG: 'C', LC_ALL: 'C' })
  try {
    const now = await look(({ cursor }) => cursor.y === 1)
    expect(now).toMatchObject({ inMode: false, barred: null, cursor: { x: 0, y: 1 } })
    expect(now.pid).toBe(Number(tmux('display-message', '-p', '#{pane_pid}')))
    expect(now.screen).toContain('\x1b[2m❯ ünï')
  } finally {
    for (const [name, value] of Object.entries(locale)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
})

test('text is pasted and keys are pressed only while the pane is unchanged since it was read', async () => {
  const before = await look(({ cursor }) => cursor.y === 1)
  expect(await readPane(place, { name: 'b1', text: 'hello; "$(x)"' })).not.toBeNull()
  tmux('send-keys', '-t', place.pane, '-l', 'user')
  const typed = await look(({ screen }) => screen.includes('user'))
  expect(await pasteBuffer(place, before, 'b1')).toBe(false)
  expect(await pressKeys(place, before, [{ name: 'x', times: 3 }])).toBe(false)
  expect(await pasteBuffer(place, typed, 'b1')).toBe(true)
  const pasted = await look(({ screen }) => screen.includes('userhello; "$(x)"'))
  expect(
    await pressKeys(place, pasted, [
      { name: 'BSpace', times: 9 },
      { name: 'Left', times: 0 },
    ]),
  ).toBe(true)
  await look(({ screen }) => /userhell\s/.test(screen))
  expect(tmux('list-buffers')).toBe('')
})

test('a pane refuses keys if a viewer pressed one since the pane was read', async () => {
  const person = spawn('script', ['-qfc', `tmux -S ${join(dir, 's')} attach`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  try {
    await vi.waitFor(() => expect(tmux('list-clients')).not.toBe(''), PATIENCE_MS)
    const rested = await look(({ keysRest }) => keysRest !== null && keysRest > 0)
    // This key changes nothing on the screen.
    person.stdin.write('\x11')
    const pressed = await look(({ keys }) => keys.pressed !== rested.keys.pressed)
    expect(pressed.screen).toBe(rested.screen)
    expect(await pressKeys(place, rested, [{ name: 'x', times: 1 }])).toBe(false)
    tmux('split-window', '-d', 'exec cat')
    expect(await readPane(place)).toMatchObject({ keys: { active: 1 } })
    tmux('select-pane', '-t', ':.1')
    const aside = await look(({ keys }) => keys.active === 0)
    expect(aside.keysRest).toBeNull()
    person.stdin.write('y')
    await vi.waitFor(() => expect(tmux('capture-pane', '-p', '-t', ':.1')).toContain('y'), PATIENCE_MS)
    expect(await pressKeys(place, aside, [{ name: 'x', times: 1 }])).toBe(true)
  } finally {
    person.kill()
  }
})

test('reading a pane reports when keys would not reach its program, or would reach other panes too', async () => {
  const before = await look(({ cursor }) => cursor.y === 1)
  tmux('copy-mode', '-t', place.pane)
  expect(await readPane(place)).toMatchObject({ inMode: true })
  expect(await pressKeys(place, before, [{ name: 'x', times: 1 }])).toBe(false)
  tmux('send-keys', '-t', place.pane, '-X', 'cancel')
  tmux('set-option', '-w', 'synchronize-panes', 'on')
  expect(await readPane(place)).toMatchObject({ inMode: false, barred: 'synchronized' })
  tmux('set-option', '-w', 'synchronize-panes', 'off')
  tmux('select-pane', '-d', '-t', place.pane)
  expect(await readPane(place)).toMatchObject({ barred: 'input-off' })
})

test('reading a missing pane or a missing server returns null', async () => {
  expect(await readPane({ ...place, pane: '%99' })).toBeNull()
  expect(await readPane({ socket: join(dir, 'none'), pane: '%0' })).toBeNull()
  expect(await readPane({ socket: join(dir, 'none'), pane: '%0' }, { name: 'b', text: 'x' })).toBeNull()
})
