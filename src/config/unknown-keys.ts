import type * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'
import type { KeyPath } from '../lib/yaml-file.js'
import type { ConfigFinding } from './finding.js'

/** Keys of older designs, with the reason and the replacement. */
const REMOVED: Record<string, { reason: string; hint: string }> = {
  context_restart_threshold: {
    reason: 'was removed: it restarted sessions at a token count that was not their context use',
    hint:
      'use `levels`, such as {name: handoff, at: 85%, actions: [request-handoff]}; ' +
      'the percentage is of the real compaction point',
  },
  context_limit: {
    reason: 'was removed: Baton reads the window and the compaction point of each model from the client',
    hint: 'remove the key; for a fixed number of tokens, use a level such as {name: early, at: 150k}',
  },
}

/**
 * Keys that Baton's plan names and that have no effect yet, by their path. `*` stands for a name.
 * The reason says more than "unknown key", and no likeness to another key is suggested.
 */
const PLANNED: Record<string, string> = {
  fleet: 'Baton does not join machines yet',
  'limits.wait_minutes': 'a job runs with one client, so it always waits for the reset of a usage limit',
  'limits.jobs_per_project': 'jobs are limited in all and for each agent only',
  'limits.jobs_per_machine': 'Baton does not join machines yet, so `limits.jobs` is the limit of this machine',
  'agents.*.clients': 'a job runs with one client',
  'agents.*.schedule': 'Baton starts no job by the clock; use cron or a systemd timer with `baton run --detach`',
}

/** The parts of a valibot schema that say which keys a map may have. */
interface SchemaShape {
  type: string
  kind: string
  wrapped?: SchemaShape
  pipe?: SchemaShape[]
  entries?: Record<string, SchemaShape>
  item?: SchemaShape
  value?: SchemaShape
  options?: SchemaShape[]
  literal?: unknown
  /** Returns the schema for an input, when the form depends on it. */
  getter?(input: unknown): SchemaShape
}

/**
 * Returns every key that the schema does not know, at any depth.
 * The schema library itself stops at the first.
 */
export function unknownKeys(schema: v.GenericSchema, value: unknown): ConfigFinding[] {
  const root = unwrapSchema(schema as unknown as SchemaShape)
  return findUnknown(root, value, [], root)
}

function findUnknown(known: SchemaShape, value: unknown, path: KeyPath, root: SchemaShape): ConfigFinding[] {
  const schema = known.getter ? unwrapSchema(known.getter(value)) : known
  if (Array.isArray(value)) {
    const item = schema.item && unwrapSchema(schema.item)
    return item ? value.flatMap((each, index) => findUnknown(item, each, [...path, index], root)) : []
  }
  if (typeof value !== 'object' || value === null) return []
  const shape = optionFor(schema, value)
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key]
    if (shape.type === 'record' && shape.value) return findUnknown(unwrapSchema(shape.value), inner, here, root)
    if (shape.type !== 'object' || !shape.entries) return []
    const known = Object.hasOwn(shape.entries, key) ? shape.entries[key] : undefined
    return known
      ? findUnknown(unwrapSchema(known), inner, here, root)
      : [describeUnknown(key, here, Object.keys(shape.entries), root)]
  })
}

/** Returns the schema inside wrappers and pipes. */
function unwrapSchema(schema: SchemaShape): SchemaShape {
  if (schema.wrapped) return unwrapSchema(schema.wrapped)
  const last = schema.pipe?.findLast(({ kind }) => kind === 'schema')
  return last ? unwrapSchema(last) : schema
}

/** Selects the form that a map was meant to have: by its `type`, or else by a key of that form. */
function optionFor(schema: SchemaShape, value: object): SchemaShape {
  const maps = schema.options?.map(unwrapSchema).filter(({ entries }) => entries) ?? []
  const type = 'type' in value ? value.type : undefined
  return (
    maps.find(({ entries }) => entries!.type && entries!.type.literal === type) ??
    maps.find(({ entries }) => !entries!.type && Object.keys(value).some((key) => Object.hasOwn(entries!, key))) ??
    schema
  )
}

function describeUnknown(key: string, path: KeyPath, known: string[], root: SchemaShape): ConfigFinding {
  if (Object.hasOwn(REMOVED, key)) return { path, ...REMOVED[key]! }
  const plan = path.map((part, n) => (n === 1 && path[0] === 'agents' ? '*' : part)).join('.')
  if (Object.hasOwn(PLANNED, plan))
    return { path, reason: `is not supported yet: ${PLANNED[plan]!}`, hint: 'remove the key' }
  if (path.length > 1 && Object.hasOwn(root.entries ?? {}, key)) {
    return {
      path,
      reason: `\`${key}\` is not allowed here`,
      hint: `move \`${key}\` to the top level of the file; known keys here: ${known.join(', ')}`,
    }
  }
  const hint = (): string => {
    const nearest = nearestName(key, known)
    if (nearest) return `did you mean \`${nearest}\`?`
    const owner = path.length === 1 ? ownerOf(key, root) : null
    return owner ? `move it under \`${owner}\`` : `known keys: ${known.join(', ')}`
  }
  return { path, reason: `unknown key \`${key}\``, hint }
}

/**
 * Returns the only key of the file under which this key is valid.
 * Null when there are none or several.
 */
function ownerOf(key: string, root: SchemaShape): string | null {
  const owners = Object.entries(root.entries ?? {}).filter(([name, schema]) => {
    const { entries } = unwrapSchema(schema)
    return name !== 'context_monitor' && entries && Object.hasOwn(entries, key)
  })
  return owners.length === 1 ? owners[0]![0] : null
}
