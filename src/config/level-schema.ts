import * as v from 'valibot'
import { MODES } from '../contract/level.js'
import { nearestName } from '../lib/nearest-name.js'
import { parsePosition } from './position.js'
import { describeValue, listOf, mapOf, oneOf, optional, setOf, text, withHint } from './value-kinds.js'

const PLAIN_ACTIONS = ['user', 'agent', 'parent', 'request-handoff', 'hand-off', 'pause'] as const

/** Limit of levels in a list, because each level is compared with those before it. */
export const MOST_LEVELS = 100

const levelName = v.pipe(
  text,
  v.regex(/^[A-Za-z][\w.-]{0,39}$/, ({ input }) =>
    withHint(
      `\`${input}\` is not a valid level name`,
      'use at most 40 letters, digits, `_`, `-` and `.`, and begin with a letter',
    ),
  ),
  v.check(
    (name) => name !== 'compaction',
    withHint('the name `compaction` is reserved for the point where the agent compacts', 'choose another name'),
  ),
)

const position = v.pipe(
  v.unknown(),
  v.check(
    (written) => parsePosition(written).ok,
    ({ input }) => {
      const parsed = parsePosition(input)
      return parsed.ok ? '' : withHint(parsed.reason, parsed.hint)
    },
  ),
)

const action = v.custom<string>(
  (written) => typeof written === 'string' && (isPlainAction(written) || /^(?:web)?hook:[^\s:]+$/.test(written)),
  ({ input }) => {
    if (typeof input !== 'string') return withHint(`expected an action, got ${describeValue(input)}`, actionsHint(''))
    if (/^(?:web)?hook:?\s*$/.test(input))
      return withHint(`\`${input}\` does not name a hook`, `write \`${input.replace(/:?\s*$/, '')}:<name>\``)
    return withHint(`unknown action \`${input}\``, actionsHint(input))
  },
)

function isPlainAction(written: string): boolean {
  return (PLAIN_ACTIONS as readonly string[]).includes(written)
}

function actionsHint(written: string): string {
  const nearest = nearestName(written, PLAIN_ACTIONS)
  return nearest
    ? `did you mean \`${nearest}\`?`
    : `known actions: ${PLAIN_ACTIONS.join(', ')}, hook:<name>, webhook:<name>`
}

const level = mapOf({
  name: levelName,
  at: optional(position),
  actions: optional(setOf(action)),
  mode: optional(oneOf(MODES, 'mode')),
})

export type WrittenLevel = v.InferOutput<typeof level>

export const levels = v.pipe(
  listOf(level),
  v.maxLength(MOST_LEVELS, ({ input }) =>
    withHint(`has ${input.length} levels`, `the limit is ${MOST_LEVELS}: remove some`),
  ),
)
