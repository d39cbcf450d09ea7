import type { CompiledConfig, LevelChange, Note } from './compiled.js'
import { keyText } from './finding.js'
import { policyFor } from './policy-for.js'
import { comparePositions } from './position.js'
import { presetLevels } from './presets.js'
import type { Written, WrittenPolicy } from './schema.js'

/** What a key waits for. When a capability is built, its lines here go. */
const LATER = {
  notify: 'accepted; you are told inside the client only until Baton notifies outside it',
  prices: "accepted; costs are the client's own figures until Baton reckons them itself",
} satisfies Partial<Record<keyof Written, string>>

const LATER_ACTIONS: [pattern: RegExp, text: string][] = [
  [/^pause$/, 'accepted; acts as a warning: a job is paused by a level of its agent, or by `baton jobs`'],
  [/^hook:/, 'accepted; acts as a warning: hooks run in jobs only, where an agent or a level of it names them'],
  [/^webhook:/, 'accepted; acts as a warning: hooks run in jobs only, where an agent or a level of it names them'],
]

const SECRET = /TOKEN|SECRET|PASSWORD|API_?KEY|CREDENTIAL/i

/** What the written keys mean for now. Only what a person wrote is noted, never what a preset brings. */
export function notesOn(written: Written, file: string): Note[] {
  const top = (['notify', 'prices'] as const).filter((key) => written[key])
  return [
    ...notesOnPolicy(written, ''),
    ...(written.overrides ?? []).flatMap((override, index) => notesOnPolicy(override, `overrides[${index}].`)),
    ...top.map((key) => ({ key, text: LATER[key] })),
    ...notesOnAgents(written.agents),
  ].map((note) => ({ ...note, file }))
}

function notesOnAgents(agents: Written['agents']): Omit<Note, 'file'>[] {
  const entries = Array.isArray(agents)
    ? agents.map((agent, index) => [`agents[${index}]`, agent] as const)
    : Object.entries(agents ?? {}).map(([name, agent]) => [keyText(['agents', name]), agent] as const)
  return entries.flatMap(([key, { session, levels, env, max_handoffs }]) => {
    const twice = (high: unknown, low: unknown): boolean => typeof high === 'number' && typeof low === 'number' && high !== low
    const notes: (false | null | undefined | [string, string])[] = [
      session?.mode === 'persistent' && ['session.mode', 'accepted; every job begins with a fresh session of its own'],
      twice(session?.context_threshold, session?.context_handoff_threshold) && [
        'session.context_handoff_threshold',
        'not used: `context_threshold` beside it says the same and wins',
      ],
      twice(max_handoffs, session?.max_handoffs_per_job) && [
        'session.max_handoffs_per_job',
        'not used: `max_handoffs` of the agent says the same and wins',
      ],
      levels?.some(({ actions }) => actions?.includes('parent')) && [
        'levels',
        'the action `parent` has no effect in a job: whoever began it is told of its end by `hooks.after_run`',
      ],
      Object.keys(env ?? {}).some((name) => SECRET.test(name)) && [
        'env',
        'kept with the job in plain text: leave secrets in the environment Baton is started in, which the agent inherits',
      ],
    ]
    return notes.flatMap((note) => (note ? [{ key: `${key}.${note[0]}`, text: note[1] }] : []))
  })
}

function notesOnPolicy(written: WrittenPolicy, prefix: string): Omit<Note, 'file'>[] {
  const notes: Omit<Note, 'file'>[] = []
  if (written.compaction === 'allow' && written.must_survive && written.must_survive.length > 0)
    notes.push({ key: `${prefix}must_survive`, text: 'is told to nobody while `compaction` is `allow`' })
  if (written.handoff?.review_seconds === 'approval' && written.compaction === 'block-and-hand-off')
    notes.push({
      key: `${prefix}compaction`,
      text: 'acts as `instruct`: nobody can tell when a brief that waits for approval is used',
    })
  written.levels?.forEach(({ actions }, level) => {
    actions?.forEach((action, index) => {
      const later = LATER_ACTIONS.find(([pattern]) => pattern.test(action))
      if (later) notes.push({ key: `${prefix}levels[${level}].actions[${index}]`, text: later[1] })
    })
  })
  return notes
}

/** Levels that a file moved past each other. Allowed, for each has its own position, but seldom meant. */
export function notesOnOrder(config: CompiledConfig, changes: LevelChange[], file: string): Note[] {
  const presets = config.layers.findLast(({ set }) => set.presets)?.set.presets ?? ['default']
  const intended = [...presetLevels(presets).values()]
  const base = { ...config, layers: config.layers.map((layer) => ({ ...layer, overrides: [] })) }
  const levels = policyFor(base, { agent: '', project: null, model: null, seat: null }).levels
  return changes.flatMap(({ name, key, rule }) => {
    const own = intended.find((level) => level.name === name)
    const now = levels.find((level) => level.name === name)
    if (!own || !now || !rule) return []
    return intended.flatMap((other) => {
      const otherNow = levels.find((level) => level.name === other.name)
      const meant = comparePositions(own.at, other.at) ?? 0
      const is = otherNow ? (comparePositions(now.at, otherNow.at) ?? 0) : 0
      if (!otherNow || meant * is >= 0) return []
      return [
        {
          key,
          file,
          text: `\`${name}\` (${now.rule}) now comes ${is < 0 ? 'before' : 'after'} \`${other.name}\` (${otherNow.rule}, ${otherNow.from})`,
        },
      ]
    })
  })
}
