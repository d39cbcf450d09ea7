import type * as v from 'valibot'
import { nearestName } from '../lib/nearest-name.js'
import type { KeyPath } from '../lib/yaml-file.js'
import type { Finding } from './finding.js'

/** Keys of older designs, with what took their place. */
const REMOVED: Record<string, { reason: string; hint: string }> = {
  context_restart_threshold: {
    reason:
      'was removed: it restarted a session at a figure that was never its fullness; the client compacts by itself',
    hint: 'write `levels`, such as {name: handoff, at: 85%, actions: [request-handoff]}: per cent of the real compaction point',
  },
  context_limit: {
    reason: 'was removed: window and compaction point are read from the client, model by model',
    hint: 'remove the key; a level may stand at a number of tokens, such as {name: early, at: 150k}',
  },
}

/** The few parts of a schema that tell which keys a map may have. */
interface Shape {
  type: string
  kind: string
  wrapped?: Shape
  pipe?: Shape[]
  entries?: Record<string, Shape>
  item?: Shape
  value?: Shape
  options?: Shape[]
  literal?: unknown
  /** The form depends on what is written. */
  getter?(input: unknown): Shape
}

/** Every key the schema does not know, at any depth: the schema library itself stops at the first. */
export function unknownKeys(schema: v.GenericSchema, value: unknown): Finding[] {
  const root = core(schema as unknown as Shape)
  return walk(root, value, [], root)
}

function walk(known: Shape, value: unknown, path: KeyPath, root: Shape): Finding[] {
  const schema = known.getter ? core(known.getter(value)) : known
  if (Array.isArray(value)) {
    const item = schema.item && core(schema.item)
    return item ? value.flatMap((each, index) => walk(item, each, [...path, index], root)) : []
  }
  if (typeof value !== 'object' || value === null) return []
  const shape = optionFor(schema, value)
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key]
    if (shape.type === 'record' && shape.value) return walk(core(shape.value), inner, here, root)
    if (shape.type !== 'object' || !shape.entries) return []
    const known = Object.hasOwn(shape.entries, key) ? shape.entries[key] : undefined
    return known ? walk(core(known), inner, here, root) : [unknown(key, here, Object.keys(shape.entries), root)]
  })
}

function core(schema: Shape): Shape {
  if (schema.wrapped) return core(schema.wrapped)
  const last = schema.pipe?.findLast(({ kind }) => kind === 'schema')
  return last ? core(last) : schema
}

/** Among the forms a map may take, the one this map was meant to be: by its `type`, else by a key they share. */
function optionFor(schema: Shape, value: object): Shape {
  const maps = schema.options?.map(core).filter(({ entries }) => entries) ?? []
  const type = 'type' in value ? value.type : undefined
  return (
    maps.find(({ entries }) => entries!.type && entries!.type.literal === type) ??
    maps.find(({ entries }) => !entries!.type && Object.keys(value).some((key) => Object.hasOwn(entries!, key))) ??
    schema
  )
}

function unknown(key: string, path: KeyPath, known: string[], root: Shape): Finding {
  if (Object.hasOwn(REMOVED, key)) return { path, ...REMOVED[key]! }
  if (path.length > 1 && Object.hasOwn(root.entries ?? {}, key)) {
    return {
      path,
      reason: `\`${key}\` has no place here`,
      hint: `write \`${key}\` at the top of the file; known here: ${known.join(', ')}`,
    }
  }
  const hint = (): string => {
    const nearest = nearestName(key, known)
    if (nearest) return `did you mean \`${nearest}\`?`
    const owner = path.length === 1 ? ownerOf(key, root) : null
    return owner ? `write it under \`${owner}\`` : `known keys: ${known.join(', ')}`
  }
  return { path, reason: `unknown key \`${key}\``, hint }
}

/** The one key of the file under which this key has its place. */
function ownerOf(key: string, root: Shape): string | null {
  const owners = Object.entries(root.entries ?? {}).filter(([name, schema]) => {
    const { entries } = core(schema)
    return name !== 'context_monitor' && entries && Object.hasOwn(entries, key)
  })
  return owners.length === 1 ? owners[0]![0] : null
}
