import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BATON } from '../../../test/harness/paths.js'
import { until } from '../../../test/harness/wait.js'
import { createTestHome, sendReading, type TestHome } from '../../testing/cli-home.js'
import { plain } from '../render/screen.js'
import { widthOf } from '../render/text.js'
import { renderFrame } from './status.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

/** Starts a shell in its own terminal. */
function terminal(fixture: TestHome, columns: number, rows: number) {
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(fixture.dir, 'tmux'), '-f', '/dev/null', ...args], {
      env: { ...fixture.env, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      encoding: 'utf8',
    })
  tmux(
    'new-session',
    '-d',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    fixture.project,
    `PS1='$ ' exec bash --norc`,
  )
  onTestFinished(() => void tmux('kill-server'))
  const screen = (): string => tmux('capture-pane', '-p')
  return {
    tmux,
    screen,
    type: (text: string) => tmux('send-keys', text, 'Enter'),
    key: (name: string) => tmux('send-keys', name),
    shows: (wanted: RegExp) =>
      until(
        () => `the screen shows ${wanted}; it shows\n${screen()}`,
        () => (wanted.test(screen()) ? screen() : null),
      ),
    alternate: () => tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}').trim(),
  }
}

test('status --watch redraws in place, follows the terminal’s size, and Ctrl-C restores the screen', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 50_000 }))
  const shell = terminal(fixture, 100, 12)
  shell.type('echo before')
  await shell.shows(/^before$/m)
  shell.type(`${process.execPath} ${BATON} status --watch; echo ended $?`)
  await shell.shows(/aaaaaaaa .*~29\.9% +50k\/~167k/)
  expect(shell.alternate()).toBe('1 0')
  expect(shell.screen()).not.toContain('before')
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project, used: 118_600, durationMs: 5_000 }))
  await shell.shows(/aaaaaaaa .*~71% +119k\/~167k {2}warning/)
  expect(shell.screen().match(/aaaaaaaa/g)).toHaveLength(1)
  expect(shell.screen()).toMatch(/\d\d:\d\d:\d\d · q quits/)
  shell.tmux('resize-window', '-x', '34', '-y', '6')
  await shell.shows(/^SESSION +STATE +FULL +LEVEL$/m)
  shell.tmux('resize-window', '-x', '100', '-y', '12')
  await shell.shows(/TOKENS/)
  shell.key('C-c')
  await shell.shows(/^ended 0$/m)
  expect(shell.alternate()).toBe('0 1')
  expect(shell.screen()).toContain('before')
  expect(shell.screen()).not.toContain('aaaaaaaa')
})

test('q and SIGTERM end status --watch, and Ctrl-Z suspends it with the screen restored', async () => {
  const fixture = createTestHome()
  const shell = terminal(fixture, 80, 12)
  const watch = `${process.execPath} ${BATON} status --watch; echo ended $?`
  shell.type(watch)
  await shell.shows(/No sessions yet\./)
  shell.key('q')
  await shell.shows(/^ended 0$/m)
  shell.type('clear')
  shell.type(watch)
  await shell.shows(/q quits/)
  shell.key('C-z')
  await shell.shows(/Stopped/)
  expect(shell.alternate()).toBe('0 1')
  shell.type('fg')
  await shell.shows(/q quits/)
  const pid = shell.tmux('display-message', '-p', '#{pane_pid}').trim()
  const [child] = execFileSync('pgrep', ['-P', pid], { encoding: 'utf8' }).split('\n')
  process.kill(Number(child), 'SIGTERM')
  await until('the screen is given back', () => shell.alternate() === '0 1')
})

test('a frame of status --watch fits its screen, with lines cut and the rest counted', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i} ${'x'.repeat(100)}`)
  const drawn = renderFrame(lines, { columns: 20, rows: 8, paint: plain }, new Date('2026-03-01T12:00:00'))
  const rows = drawn
    .replace(/^\u001b\[\?2026h\u001b\[H/, '')
    .replace(/\u001b\[J\u001b\[\?2026l$/, '')
    .split('\r\n')
  expect(rows).toHaveLength(8)
  for (const row of rows) expect(widthOf(row.replace('\u001b[K', ''))).toBeLessThanOrEqual(20)
  expect(rows.at(-2)).toBe('… 24 more lines\u001b[K')
  expect(rows.at(-1)).toBe('12:00:00 · q quits\u001b[K')
})
