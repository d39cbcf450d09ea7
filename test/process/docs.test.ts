import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMAND_NAMES, loadAllCommands, loadCommand } from '../../src/cli/commands.js'
import { COMMON_OPTIONS } from '../../src/cli/parse-call.js'
import { configSchema } from '../../src/config/schema.js'
import { EVENT_DATA } from '../../src/contract/api/event-data.js'
import { ROUTES } from '../../src/contract/api/routes.js'
import { CHECKS } from '../../src/doctor/doctor.js'
import { docsPages, sectionOf } from '../harness/docs-pages.js'
import { REPOSITORY } from '../harness/paths.js'

const pages = docsPages()
const pageAt = (file: string): string => pages.find((page) => page.file === file)?.text ?? ''

/** The anchor that GitHub gives to a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

function anchorsOf(file: string): string[] {
  return [...pageAt(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!))
}

/** Returns every name in backticks on a page, split at spaces and punctuation. */
function namesOn(text: string): Set<string> {
  return new Set([...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code!.split(/[^\w-]+/)))
}

test('every relative link of every page leads to a file, and every anchor to a heading', () => {
  const broken: string[] = []
  for (const { file, prose } of pages) {
    for (const [, target, anchor] of prose.matchAll(/\]\(([^)\s#:]*)(?:#([^)\s]+))?\)/g)) {
      const to = target === '' ? file : path.posix.join(path.posix.dirname(file), target!)
      if (!existsSync(path.join(REPOSITORY, to))) broken.push(`${file}: ${target}`)
      else if (anchor !== undefined && !anchorsOf(to).includes(anchor)) broken.push(`${file}: ${target}#${anchor}`)
    }
  }
  expect(broken).toEqual([])
})

test('every source file that a page of docs names in backticks exists', () => {
  const missing: string[] = []
  for (const { file, text } of pages.filter((page) => page.file.startsWith('docs/'))) {
    for (const [, named] of text.matchAll(/`((?:src|web|test|bench|scripts|examples|docs)\/[\w./-]+)`/g))
      if (!existsSync(path.join(REPOSITORY, named!))) missing.push(`${file}: ${named}`)
  }
  expect(missing).toEqual([])
})

test('every page of docs is linked from another page', () => {
  const linked = new Set<string>()
  for (const { file, prose } of pages) {
    for (const [, target] of prose.matchAll(/\]\(([^)\s#:]+)(?:#[^)\s]+)?\)/g))
      linked.add(path.posix.join(path.posix.dirname(file), target!))
  }
  const orphans = pages.map(({ file }) => file).filter((file) => /^docs\//.test(file) && !linked.has(file))
  expect(orphans).toEqual([])
})

test('every baton command, action and option that a page names in its text exists', async () => {
  const wrong: string[] = []
  for (const { file, prose } of pages.filter((page) => page.file !== 'CHANGELOG.md')) {
    for (const [, code] of prose.matchAll(/`baton ([^`]+)`/g)) {
      const [name = '', word = ''] = code!.split(/\s+/)
      if (name.startsWith('-')) continue
      if (!COMMAND_NAMES.includes(name)) {
        wrong.push(`${file}: baton ${code}: no command ${name}`)
        continue
      }
      const command = (await loadCommand(name))!
      const actions = /^[a-z|]+$/.test(word) ? word.split('|') : []
      for (const action of actions)
        if (command.actions && !command.actions.includes(action)) wrong.push(`${file}: baton ${code}: no ${action}`)
      const known = { ...command.options, ...COMMON_OPTIONS }
      for (const [, option] of code!.replace(/'[^']*'|"[^"]*"/g, '').matchAll(/(?<![\w-])--([a-z][\w-]*)/g))
        if (!(option! in known)) wrong.push(`${file}: baton ${code}: no option --${option}`)
    }
  }
  expect(wrong).toEqual([])
})

describe('the reference', () => {
  test('commands.md has a section for each command, with its actions and options', async () => {
    const missing: string[] = []
    for (const command of await loadAllCommands()) {
      const section = sectionOf(pageAt('docs/reference/commands.md'), command.name)
      const named = namesOn(section)
      if (section === '') missing.push(command.name)
      for (const action of command.actions ?? []) if (!named.has(action)) missing.push(`${command.name} ${action}`)
      for (const option of Object.keys(command.options))
        if (!new RegExp(`^\\| \`--${option}[ \`]`, 'm').test(section)) missing.push(`${command.name} --${option}`)
    }
    expect(missing).toEqual([])
  })

  test('configuration.md and job-configuration.md name every key of the configuration, at every depth', () => {
    const named = namesOn(
      pageAt('docs/reference/configuration.md') +
        pageAt('docs/reference/job-configuration.md') +
        pageAt('docs/guides/notify.md'),
    )
    const keys = [...new Set(keysOf(configSchema))]
    expect(keys.length).toBeGreaterThan(60)
    expect(keys.filter((key) => !named.has(key))).toEqual([])
  })

  test('http.md lists every route of the server with its query parameters', () => {
    const page = pageAt('docs/reference/http.md')
    const missing: string[] = []
    for (const { method, path: route, ...spec } of Object.values(ROUTES)) {
      const name = `${method.toUpperCase()} ${route}`
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))
      if (row === undefined) missing.push(name)
      const parameters = 'query' in spec && spec.query ? Object.keys(spec.query) : []
      for (const parameter of parameters)
        if (row !== undefined && !row.includes(`\`${parameter}\``)) missing.push(`${name}: ?${parameter}`)
    }
    expect(missing).toEqual([])
  })

  test('events.md lists every type of event with every key of its data', () => {
    const page = pageAt('docs/reference/events.md')
    const missing: string[] = []
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    for (const [type, data] of Object.entries(EVENT_DATA)) {
      const own = rows.filter((row) => row.split(' | ', 1)[0]!.includes(`\`${type}\``))
      const named = namesOn(own.join('\n'))
      for (const key of [type, ...Object.keys(data.entries)]) if (!named.has(key)) missing.push(`${type}: ${key}`)
    }
    expect(missing).toEqual([])
  })
})

test('troubleshooting.md lists the checks of the doctor in their order', () => {
  const table = sectionOf(pageAt('docs/troubleshooting.md'), 'The checks')
  const shown = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell]) => [...namesOn(cell!)])
  expect(shown).toEqual(CHECKS.map(({ name }) => name))
})

/** Returns the keys of every map inside a schema, whatever wraps it. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = schema as Record<string, unknown>
  const entries = typeof node.entries === 'object' && node.entries !== null ? node.entries : {}
  const inner = [node.wrapped, node.item, node.value, ...listed(node.pipe), ...listed(node.options)]
  const nested = [...Object.values(entries), ...inner.filter((each) => each !== schema)]
  return [...Object.keys(entries), ...nested.flatMap(keysOf)]
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
