import { nearestName } from '../lib/nearest-name.js'
import type { KeyPath } from '../lib/yaml-file.js'
import { checkLevels, isEntry, type Reach } from './check-levels.js'
import type { LayerSource } from './compiled.js'
import type { Finding } from './finding.js'

type Entry = Record<string, unknown>

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/
const HOOK_LISTS = ['on_context_threshold', 'on_session_start', 'after_run', 'on_error']

/** What the schema cannot see in one key alone. Works on what is written, so that one wrong entry hides no other. */
export function checkAgents(agents: unknown, source: LayerSource, reach: Reach): Finding[] {
  if (agents === undefined || agents === null) return []
  if (source !== 'project')
    return [{ path: ['agents'], reason: 'belongs to a project', hint: "write `agents` in the project's baton.yaml" }]
  const each = (key: string | number, entry: unknown) => (isEntry(entry) ? checkAgent(entry, ['agents', key], reach) : [])
  if (Array.isArray(agents)) return [...agents.flatMap((entry, index) => each(index, entry)), ...checkListed(agents)]
  const entries = isEntry(agents) ? Object.entries(agents) : []
  return [...entries.flatMap(([name, entry]) => each(name, entry)), ...checkMapped(entries)]
}

function checkListed(agents: unknown[]): Finding[] {
  const seen = new Set<unknown>()
  return agents.flatMap((entry, index): Finding[] => {
    if (!isEntry(entry)) return []
    const { name } = entry
    const path = ['agents', index, 'name']
    if (isNothing(name)) return [{ path: ['agents', index], reason: 'has no name', hint: 'add `name`, such as `name: coder`' }]
    if (typeof name !== 'string') return []
    if (seen.has(name)) return [{ path, reason: `there are two agents \`${name}\``, hint: 'give each agent a name of its own' }]
    seen.add(name)
    return wrongName(name, path)
  })
}

function checkMapped(entries: [string, unknown][]): Finding[] {
  return entries.flatMap(([key, entry]) => {
    const path = ['agents', key]
    const other = isEntry(entry) && typeof entry.name === 'string' && entry.name !== key
    const twice: Finding[] = other
      ? [{ path: [...path, 'name'], reason: `the agent is called \`${key}\` already`, hint: 'remove `name`' }]
      : []
    return [...wrongName(key, path), ...twice]
  })
}

function wrongName(name: string, path: KeyPath): Finding[] {
  if (NAME.test(name)) return []
  const hint = 'letters, digits, `_`, `-` and `.`, a letter or digit first, at most 64'
  return [{ path, reason: `\`${name}\` is not a name`, hint }]
}

function checkAgent(entry: Entry, path: KeyPath, reach: Reach): Finding[] {
  return [
    ...onlyOne(entry, 'prompt', 'prompt_file', path),
    ...onlyOne(entry, 'tools', 'allowed_tools', path),
    ...checkLevels(entry.levels, [...path, 'levels'], reach),
    ...(isEntry(entry.hooks) ? checkHookNames(entry.hooks, [...path, 'hooks'], reach) : []),
    ...(isEntry(entry.workspace) ? checkWorkspace(entry.workspace, [...path, 'workspace']) : []),
  ]
}

function onlyOne(entry: Entry, first: string, second: string, path: KeyPath): Finding[] {
  if (isNothing(entry[first]) || isNothing(entry[second])) return []
  return [{ path: [...path, second], reason: `stands beside \`${first}\`, which says the same`, hint: `write one of the two` }]
}

function checkHookNames(hooks: Entry, path: KeyPath, reach: Reach): Finding[] {
  return HOOK_LISTS.flatMap((list) => {
    const written: unknown[] = Array.isArray(hooks[list]) ? hooks[list] : []
    return written.flatMap((hook, index): Finding[] => {
      if (typeof hook !== 'string' || reach.hooks.has(hook)) return []
      const nearest = nearestName(hook, [...reach.hooks.keys()])
      const hint = nearest
        ? `did you mean \`${nearest}\`?`
        : `add it at the top of the file: \`hooks: {${hook}: {type: shell, command: …}}\``
      return [{ path: [...path, list, index], reason: `there is no hook \`${hook}\``, hint }]
    })
  })
}

function checkWorkspace(workspace: Entry, path: KeyPath): Finding[] {
  if (workspace.create_pr !== true || workspace.push_on_success !== false) return []
  const hint = 'write `push_on_success: true`, or leave it out'
  return [{ path: [...path, 'create_pr'], reason: 'a pull request needs its branch pushed', hint }]
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined
}
