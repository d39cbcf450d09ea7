import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { BATON } from '../harness/paths.js'
import { until } from '../harness/wait.js'
import { climb, type JobStage, jobStage } from './job-stage.js'

const exec = promisify(execFile)

/** Runs a command in its own terminal with only the stage's environment. */
async function inTerminal(it: JobStage, columns: number, args: string[]) {
  const socket = path.join(it.home.dir, 'tmux-job')
  const config = path.join(it.home.dir, 'tmux-job.conf')
  writeFileSync(config, 'set -g remain-on-exit on\n')
  const tmux = async (...words: string[]): Promise<string> =>
    (await exec('tmux', ['-S', socket, '-f', config, ...words], { env: it.home.env })).stdout
  it.home.onDispose(async () => void (await tmux('kill-server').catch(() => {})))
  const size = ['-x', String(columns), '-y', '24']
  await tmux('new-session', '-d', '-s', 'job', ...size, '-c', it.home.project, process.execPath, BATON, ...args)
  const screen = async (): Promise<string> => (await tmux('capture-pane', '-p', '-t', 'job')).trimEnd()
  return {
    tmux,
    screen,
    waitFor: (line: RegExp): Promise<string> => {
      let last = ''
      return until(
        () => `${line} on the screen:\n${last}`,
        async () => {
          last = await screen()
          return line.test(last) ? last : null
        },
      )
    },
  }
}

test.each([80])(
  'in a terminal of %d columns baton run shows steps, calls and checks, and Ctrl-C cleans up',
  async (columns) => {
    const it = await jobStage(climb({ steps: 4, grow: 15_000, held: [3] }))
    const flags = [
      '--model',
      'claude-opus-4-6',
      '--permission-mode',
      'bypassPermissions',
      '--check',
      'grep -qx 4 steps',
    ]
    const terminal = await inTerminal(it, columns, ['run', '--prompt', 'Do all steps.', ...flags])
    const working = await terminal.waitFor(/→ Bash until .*· step \d/)
    expect(working).toMatch(/^\d\d:\d\d:\d\d 1 check must pass: grep -qx 4 steps$/m)
    expect(working).toMatch(/^\d\d:\d\d:\d\d ✓ Bash echo 1 >> steps/m)
    expect(working).toMatch(/^\d\d:\d\d:\d\d ✓ Bash echo 2 >> steps/m)
    expect(working.split('\n').at(-1)).toMatch(/^\d+:\d\d → Bash until .*· step \d · \d+% · .* spent$/)

    await terminal.tmux('send-keys', '-t', 'job', 'C-c')
    await terminal.waitFor(/Pausing after the current step/)
    it.release(3)
    const ended = await terminal.waitFor(/To continue: baton jobs resume/)
    // The live line is erased: the job's result directly follows the last event.
    expect(ended).not.toMatch(/^\d+:\d\d → /m)
    expect(ended).toMatch(/✓ Bash until .* steps/)
    expect(it.running()).toEqual([])
  },
)

test('baton run prints each step with its mark when stdout is no terminal', async () => {
  const it = await jobStage({
    steps: [{ bash: 'echo 1 >> steps', used: 30_008 }, { bash: 'exit 3', used: 31_008 }, 'Done.'],
  })
  const flags = ['--permission-mode', 'bypassPermissions']
  const { code, stdout } = await it.baton('run', '--prompt', 'Do it.', ...flags)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d ✓ Bash echo 1 >> steps( \(\d+ s\))?$/m)
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d ✗ Bash exit 3( \(\d+ s\))?: Exit code 3$/m)
  expect(stdout).not.toMatch(/[\r\u001b]/)
})
