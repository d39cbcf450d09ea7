import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'
import { COMMAND_NAMES, loadAllCommands } from '../commands.js'
import { completionScript } from './help.js'

/** Returns what bash offers after these words; the last one is still being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const line = words.map((word) => `'${word}'`).join(' ')
  const script =
    `eval "$SCRIPT"; COMP_WORDS=(baton ${line}); COMP_CWORD=${words.length}; _baton; ` +
    `printf '%s\\n' "\${COMPREPLY[@]}"`
  const ran = spawnSync('bash', ['--norc', '-c', script], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', SCRIPT: completionScript('bash', await loadAllCommands()) },
    encoding: 'utf8',
  })
  expect(ran.stderr).toBe('')
  return ran.stdout.split('\n').filter(Boolean)
}

test('bash completes commands, actions, options and their values', async () => {
  expect(await offered('')).toEqual([...COMMAND_NAMES, '--help', '--version'])
  expect(await offered('st')).toEqual(['status', 'statusline'])
  expect(await offered('status', '--w')).toEqual(['--watch'])
  expect(await offered('config', 'ex')).toEqual(['explain'])
  expect(await offered('install', '--scope', '')).toEqual(['user', 'project'])
  expect(await offered('help', 'sh')).toEqual(['show'])
  expect(await offered('serve', '--port', '')).toEqual([])
})

test('the completion script of every shell contains every command and option', async () => {
  const commands = await loadAllCommands()
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(shell, commands)
    for (const { name, options } of commands) {
      expect(script).toContain(name)
      for (const option of Object.keys(options)) expect(script).toMatch(new RegExp(`(--|-l )${option}\\b`))
    }
  }
})

test('completion refuses an unknown shell, and --json contains the script', async () => {
  const fixture = createTestHome()
  expect(await fixture.run(['completion', 'bsah'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean baton completion bash?'),
  })
  const { json } = await fixture.run(['completion', 'fish', '--json'])
  expect(json).toMatchObject({ shell: 'fish', script: expect.stringContaining('complete -c baton') })
})
