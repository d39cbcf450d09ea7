import { expect, test } from 'vitest'
import { COMMAND_NAMES, loadAll } from '../commands.js'
import { plain, type Screen } from '../render/screen.js'
import { commandHelp, GROUPS } from './help.js'

const screen = { columns: 100, paint: plain } as Screen

test('every command is in exactly one group of the help overview', () => {
  const grouped = GROUPS.flatMap(([, names]) => names)
  expect(grouped.toSorted()).toEqual(COMMAND_NAMES.toSorted())
  expect(GROUPS.find(([title]) => title === 'More')?.[1]).toEqual(['completion', 'help'])
})

test('the help of an action shows only its usage, its options and an example', async () => {
  const commands = (await loadAll()).filter(({ forms }) => forms !== undefined)
  expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(['handoffs', 'jobs']))
  for (const command of commands) {
    for (const action of command.actions!) {
      const help = commandHelp(command, screen, action)
      const form = command.forms![action]!
      expect(help.split('\n')[0]).toBe(form.does)
      const calls = help.split('\n').filter((line) => line.startsWith(`  baton ${command.name} `))
      expect(calls.length).toBeGreaterThan(1)
      for (const line of calls) expect(line).toMatch(new RegExp(`^ {2}baton ${command.name} ${action}\\b`))
      const told = [...help.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm)].map(([, name]) => name)
      expect(told).toEqual([...form.options, 'json', 'help'])
    }
  }
})

test('the help of an action shows only the part of a shared text that is about it', async () => {
  const handoffs = (await loadAll()).find(({ name }) => name === 'handoffs')!
  const check = commandHelp(handoffs, screen, 'check')
  expect(check).toContain('--session ID  of this session\n')
  expect(check).toContain('  {score, missing: [{kind, text}], unsupported')
  expect(check).not.toContain('in this one')
  expect(commandHelp(handoffs, screen, 'use')).toContain('in this one (else your own')
  expect(commandHelp(handoffs, screen, 'request')).toContain('--reason TEXT  why, in your words; the agent is told')
  expect(commandHelp(handoffs, screen, 'nonsense')).toBe(commandHelp(handoffs, screen))
})
