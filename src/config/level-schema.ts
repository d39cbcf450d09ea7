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
    withHint(`\`${input}\` is not a name`, 'letters, digits, `_`, `-` and `.`, a letter first, at most 40'),
  ),
  v.check(
    (name) => name !== 'compaction',
    withHint('`compaction` is where the agent compacts; no level can have that name', 'choose another name'),
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
      return withHint(`\`${input}\` names no hook`, `write \`${input.replace(/:?\s*$/, '')}:<name>\``)
    return withHint(`there is no action \`${input}\``, actionsHint(input))
  },
)

function isPlainAction(written: string): boolean {
  return (PLAIN_ACTIONS as readonly string[]).includes(written)
}

function actionsHint(written: string): string {
  const nearest = nearestName(written, PLAIN_ACTIONS)
  return nearest ? `did you mean \`${nearest}\`?` : `actions: ${PLAIN_ACTIONS.join(', ')}, hook:<name>, webhook:<name>`
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
  v.maxLength(MOST_LEVELS, ({ input }) => withHint(`has ${input.length} levels`, `write at most ${MOST_LEVELS}`)),
)
