import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../lib/find-program.js'
import { wrapInTerminal } from './stage.js'

const here = { PATH: process.env.PATH }

const only = (wanted: string) => (name: string) => (name === wanted ? findProgram(name, here) : null)

function ran(program: string, args: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
}

test.each(['script', 'python3'].filter((name) => findProgram(name, here) !== null))(
  '%s runs a command in a terminal with a size, its arguments unchanged and its exit code kept',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-terminal-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const program = join(folder, 'a program')
    writeFileSync(program, '#!/bin/sh\ntest -t 0 && test -t 1 && echo "[$(stty size)] <$1> <$2>"\nexit 7\n')
    chmodSync(program, 0o755)
    const line = wrapInTerminal({ program, args: ["it's $HOME", ''] }, only(name))!
    const { code, said } = await ran(line.program, line.args)
    expect(said.trim()).toBe("[40 120] <it's $HOME> <>")
    expect(code).toBe(7)
  },
)

test('without script and python3 no terminal can be created', () => {
  expect(wrapInTerminal({ program: '/bin/true', args: [] }, () => null)).toBeNull()
})
