import * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'
import { type Script, scriptSchema } from './script.js'

interface ScriptProblem {
  /** Path of the key, such as `steps[2].used`. Empty for the script itself. */
  key: string
  reason: string
}

/** Error for an invalid script. The message names the file and every wrong key. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
  constructor(
    readonly file: string,
    readonly problems: ScriptProblem[],
  ) {
    super(problems.map((p) => `${file}: ${p.key === '' ? '' : `${p.key}: `}${p.reason}`).join('\n'))
  }
}

/** Parses a script from JSON text. Throws ScriptError. */
export function parseScript(text: string, file: string): Script {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ScriptError(file, [{ key: '', reason: `not valid JSON (${(error as Error).message})` }])
  }
  return toScript(value, file)
}

/** Parses a script from a JavaScript value. Throws ScriptError. */
export function toScript(value: unknown, file = 'script'): Script {
  if (!isObject(value)) throw new ScriptError(file, [{ key: '', reason: 'must be an object with "steps"' }])
  const result = v.safeParse(scriptSchema, spellOut(value))
  if (result.success) return result.output
  throw new ScriptError(file, result.issues.map(problem))
}

function problem(issue: v.BaseIssue<unknown>): ScriptProblem {
  const path = issue.path ?? []
  const key = path
    .map((p, i) => (typeof p.key === 'number' ? `[${p.key}]` : `${i > 0 ? '.' : ''}${String(p.key)}`))
    .join('')
  if (issue.kind === 'schema' && issue.type === 'strict_object' && issue.expected === 'never') {
    const known = knownKeys(path.slice(0, -1).map((p) => p.key))
    const like = nearestName(String(path.at(-1)?.key), known)
    return {
      key,
      reason: like ? `unknown key, did you mean "${like}"?` : `unknown key, known keys are ${known.join(', ')}`,
    }
  }
  // Report the inner reason: a failed union only says what it expected as a whole.
  const inner = issue.issues?.find((i) => i.kind === 'validation')
  return { key, reason: inner?.message ?? issue.message }
}

/** Returns the keys that the schema allows at a path. */
function knownKeys(path: unknown[]): string[] {
  let schema = scriptSchema as unknown as Node
  for (const key of path) {
    while (schema.wrapped) schema = schema.wrapped
    const inner = typeof key === 'number' ? schema.item : schema.entries?.[String(key)]
    if (!inner) return []
    schema = inner
  }
  while (schema.wrapped) schema = schema.wrapped
  return Object.keys(schema.entries ?? {})
}

interface Node {
  wrapped?: Node
  item?: Node
  entries?: Record<string, Node>
}

/**
 * Expands the short forms of a script. Leaves unknown values unchanged for the schema to report.
 */
function spellOut(script: Record<string, unknown>): Record<string, unknown> {
  return conversation(script, { conversations: list(conversation), subagents: list(conversation), side: step })
}

function conversation(value: unknown, more: Record<string, (v: unknown) => unknown> = {}): Record<string, unknown> {
  return each(value, {
    steps: list(step),
    after_compaction: (cycles) =>
      Array.isArray(cycles) ? (cycles.some(Array.isArray) ? cycles : [cycles]).map(list(step)) : cycles,
    summary: step,
    rest: step,
    replies: list(step),
    when: (when) => (typeof when === 'string' ? { prompt: when } : when),
    ...more,
  }) as Record<string, unknown>
}

const step = (value: unknown): unknown =>
  typeof value === 'string' ? { text: value } : each(value, { agent: asList(agent), fail: asList(fail) })

const agent = (value: unknown): unknown => (typeof value === 'string' ? { prompt: value } : value)
const fail = (value: unknown): unknown =>
  typeof value === 'string' || typeof value === 'number' ? { kind: value } : value

const list =
  (of: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map((one) => of(one)) : value

const asList =
  (of: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    list(of)(Array.isArray(value) ? value : [value])

function each(value: unknown, forms: Record<string, (value: unknown) => unknown>): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, forms[key] ? forms[key](inner) : inner]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
