import { expect, test } from 'vitest'
import type { Command } from '../command.js'
import { COMMAND_NAMES, loadAllCommands } from '../commands.js'
import { plain, type Screen } from '../render/screen.js'
import { widthOf } from '../render/text.js'
import { commandHelp, GROUPS, helpOverview } from './help.js'

const screen = { columns: 100, paint: plain } as Screen

/** Returns the help of every command and action, by the words after `baton`. */
async function allHelp(on = screen): Promise<Map<string, string>> {
  const commands = await loadAllCommands()
  const texts = commands.flatMap((command): [string, string][] => [
    [command.name, commandHelp(command, on)],
    ...(command.actions ?? []).map((action): [string, string] => [
      `${command.name} ${action}`,
      commandHelp(command, on, action),
    ]),
  ])
  return new Map([['', helpOverview(commands, on)], ...texts])
}

/** Returns the names of the options under the title Options. */
const optionsIn = (help: string): (string | undefined)[] =>
  [...help.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm)].map(([, name]) => name)

const examplesIn = (help: string): string[] =>
  help.slice(help.indexOf('\nExamples\n'), help.indexOf('\nWith --json\n')).trim().split('\n').slice(1)

test('every command is in exactly one group of the help overview', () => {
  const grouped = GROUPS.flatMap(([, names]) => names)
  expect(grouped.toSorted()).toEqual(COMMAND_NAMES.toSorted())
  expect(GROUPS.find(([title]) => title === 'More')?.[1]).toEqual(['completion', 'help'])
})

test('every command and action has a summary, a usage line and an example in its help', async () => {
  for (const command of await loadAllCommands()) {
    const { name, actions, forms, usage } = command
    expect(Object.keys(forms ?? {}), name).toEqual(actions ?? [])
    for (const action of [undefined, ...(actions ?? [])]) {
      const call = action === undefined ? name : `${name} ${action}`
      const summary = action === undefined ? command.summary : forms![action]!.summary
      const help = commandHelp(command, screen, action)
      expect(summary, call).toMatch(/^[a-z].*[^.]$/)
      expect(help.split('\n', 1), call).toEqual([summary])
      expect(help, call).toMatch(new RegExp(`\\nUsage\\n  baton ${call}\\b`))
      expect(examplesIn(help).join('\n'), call).toMatch(new RegExp(`baton ${call}\\b`))
    }
    const forActions = usage
      .filter((form) => actions?.includes(form.split(' ', 1)[0]!))
      .map((form) => form.split(' ')[0])
    expect([...new Set(forActions)].toSorted(), name).toEqual([...(actions ?? [])].toSorted())
  }
})

test('the help of an action shows only its own usage, options and examples', async () => {
  for (const command of await loadAllCommands())
    for (const action of command.actions ?? []) {
      const call = `baton ${command.name} ${action}`
      const help = commandHelp(command, screen, action)
      const lines = help.split('\n').filter((line) => line.startsWith(`  baton ${command.name} `))
      for (const line of lines) expect(line).toMatch(new RegExp(`^ {2}${call}\\b`))
      expect(optionsIn(help), call).toEqual([...command.forms![action]!.options, 'json', 'help'])
    }
})

test('the help of a command documents every option, and each option of an action is one of them', async () => {
  for (const command of await loadAllCommands()) {
    const { name, options, forms, usage } = command
    expect(optionsIn(commandHelp(command, screen)), name).toEqual([...Object.keys(options), 'json', 'help'])
    for (const { about } of Object.values(options)) expect(about, name).toMatch(/\S.*[^.]$/)
    for (const { options: names } of Object.values(forms ?? {}))
      for (const option of names) expect(Object.keys(options), name).toContain(option)
    const named = usage.flatMap((form) => [...form.matchAll(/--([\w-]+)/g)].map(([, option]) => option))
    for (const option of named) expect(Object.keys(options), name).toContain(option)
  }
})

test('the help has no line above 100 columns, and at 80 columns only usage and examples are wider', async () => {
  for (const [call, help] of await allHelp())
    for (const line of help.split('\n')) expect(widthOf(line), `${call}: ${line}`).toBeLessThanOrEqual(100)
  const narrow = { ...screen, columns: 80 }
  for (const [call, help] of await allHelp(narrow)) {
    const copied = new Set([...examplesIn(help), ...help.split('\n').filter((line) => line.startsWith('  baton '))])
    for (const line of help.split('\n'))
      if (!copied.has(line)) expect(widthOf(line), `${call}: ${line}`).toBeLessThanOrEqual(80)
  }
})

/** Words of the code or of earlier versions that users do not know. */
const UNCLEAR = new RegExp(
  String.raw`\b(of point|carries|as given|taken|words and figures|mod|mods|runner|goes on|go on|handed over|` +
    String.raw`hand over|mend|mended)\b`,
  'i',
)

test('the help uses no word that only the code knows', async () => {
  for (const command of await loadAllCommands()) {
    for (const text of textsOf(command)) expect(text, command.name).not.toMatch(UNCLEAR)
  }
})

test('a help text that mentions a delivery mode says when the agent reads the message', async () => {
  const command = (await loadAllCommands()).find(({ name }) => name === 'send')!
  for (const meaning of ['after the turn (sequential)', '(important)', 'now']) expect(command.about).toContain(meaning)
  const others = (await loadAllCommands()).filter(({ name }) => name !== 'send').flatMap(textsOf)
  for (const text of others) expect(text).not.toMatch(/\b(sequential|important|urgent)\b/)
})

test('every command whose arguments include a seat explains what a seat is', async () => {
  const commands = (await loadAllCommands()).filter(({ usage }) => usage.some((form) => /\bseat\b|--seat/.test(form)))
  expect(commands.length).toBeGreaterThan(4)
  for (const { name, about } of commands) expect(about, name).toMatch(/seat is the place .* a terminal or a job/)
})

function textsOf({ summary, about, options, forms, examples, json }: Command): string[] {
  const actions = Object.values(forms ?? {}).flatMap((form) => [form.summary, form.about ?? ''])
  const notes = examples.map(([, note]) => note)
  return [summary, about ?? '', ...Object.values(options).map((one) => one.about), ...actions, ...notes, json]
}

test('the help of an action shows only the part of a shared text that is about it', async () => {
  const handoffs = (await loadAllCommands()).find(({ name }) => name === 'handoffs')!
  const [check, use] = [commandHelp(handoffs, screen, 'check'), commandHelp(handoffs, screen, 'use')]
  expect(check).toMatch(/^ {2}\{score, missing: \[\{kind, text\}\], unsupported/m)
  expect(check).not.toContain('newest running one')
  expect(use).toContain('newest running one')
  expect(use).not.toContain('check, write')
  expect(commandHelp(handoffs, screen, 'nonsense')).toBe(commandHelp(handoffs, screen))
})
