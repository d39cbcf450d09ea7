import type { Level, Position } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { CompiledConfig, LayerSettings, LevelChange, OverrideWhen } from './compiled.js'
import { presetLevels } from './presets.js'

/**
 * Returns the configuration of one session. Layers apply from lowest to highest:
 * first a layer's own keys, then its matching overrides in the order written.
 * Runs in every hook, so it is pure and needs neither the YAML nor the schema library.
 * The caller may change the result.
 * Levels are sorted as in a window of 200k tokens.
 * A session's own limits can put them into another order.
 */
export function policyFor(config: CompiledConfig, subject: PolicySubject): Policy {
  const policy = defaultPolicy()
  let levels = presetLevels(['default'])
  for (const layer of config.layers) {
    levels = apply(policy, levels, layer.set, `${layer.from}, `)
    layer.overrides.forEach(({ when, set }, index) => {
      if (applies(when, subject)) levels = apply(policy, levels, set, `${layer.from}, overrides[${index}].`)
    })
  }
  policy.levels = [...levels.values()].sort((a, b) => tokensInSmallWindow(a.at) - tokensInSmallWindow(b.at))
  return policy
}

function defaultPolicy(): Policy {
  return {
    enabled: true,
    levels: [],
    compaction: 'instruct',
    mustSurvive: [],
    handoff: { mode: 'auto', largeWindow: 'ask', reviewSeconds: 0, bar: 0.8, fork: false },
    guards: { minNewTokens: 20_000, maxUnattendedPerHour: 6, cooldownSeconds: 60, breakerAfter: 3 },
    archive: {
      enabled: true,
      at: ['pre-compact', 'handoff', 'session-end'],
      keepDays: null,
      keepBytes: null,
      redact: [],
    },
    statusLine: { segments: ['gauge', 'tokens', 'level', 'forecast', 'handoff'], width: null, style: 'bar' },
    notify: [],
  }
}

/**
 * Applies one set of settings. Presets replace all levels.
 * `must_survive` and `redact` are united, so that no project can remove a line of the user.
 */
function apply(policy: Policy, levels: Map<string, Level>, set: LayerSettings, place: string): Map<string, Level> {
  const { redact, ...archive } = set.archive ?? {}
  if (set.enabled !== undefined) policy.enabled = set.enabled
  if (set.compaction !== undefined) policy.compaction = set.compaction
  if (set.notify !== undefined) policy.notify = [...set.notify]
  policy.mustSurvive = union(policy.mustSurvive, set.mustSurvive)
  Object.assign(policy.handoff, set.handoff)
  Object.assign(policy.guards, set.guards)
  Object.assign(policy.archive, archive)
  Object.assign(policy.statusLine, set.statusLine)
  policy.archive.at = [...policy.archive.at]
  policy.archive.redact = union(policy.archive.redact, redact)
  const result = set.presets ? presetLevels(set.presets) : levels
  for (const change of set.levels ?? []) changeLevel(result, change, `${place}${change.key}`)
  return result
}

function union(known: string[], more: string[] | undefined): string[] {
  return more ? [...known, ...more.filter((text) => !known.includes(text))] : known
}

/**
 * Changes or adds a level.
 * A change without a position has no effect on a level that this session does not have.
 */
function changeLevel(levels: Map<string, Level>, change: LevelChange, place: string): void {
  const known = levels.get(change.name)
  const at = change.at ?? known?.at
  if (!at) return
  levels.set(change.name, {
    ...known,
    name: change.name,
    at: copyPosition(at),
    actions: [...(change.actions ?? known?.actions ?? [])],
    mode: change.mode ?? known?.mode ?? 'sequential',
    rule: change.rule ?? known?.rule ?? '',
    from: change.at || !known ? place : `${known.from}; ${changed(change)} from ${place}`,
  })
}

function copyPosition(at: Position): Position {
  return at.of === 'first' ? { of: 'first', positions: [{ ...at.positions[0] }, { ...at.positions[1] }] } : { ...at }
}

function changed({ actions, mode }: LevelChange): string {
  return [actions && 'actions', mode && 'mode'].filter(Boolean).join(' and ')
}

function applies(when: OverrideWhen, subject: PolicySubject): boolean {
  return (
    matchesAny(when.agent, subject.agent, matchesText) &&
    matchesAny(when.project, subject.project, matchesPath) &&
    matchesAny(when.model, subject.model, matchesText) &&
    matchesAny(when.seat, subject.seat, matchesText)
  )
}

function matchesAny(
  patterns: string[] | undefined,
  value: string | null,
  matches: (pattern: string, value: string) => boolean,
): boolean {
  return patterns === undefined || (value !== null && patterns.some((pattern) => matches(pattern, value)))
}

function tokensInSmallWindow(at: Position): number {
  switch (at.of) {
    case 'compaction':
      return at.percent * 1_670
    case 'window':
      return at.percent * 2_000
    case 'tokens':
      return at.tokens
    case 'before-compaction':
      return 167_000 - at.tokens
    case 'first':
      return Math.min(...at.positions.map(tokensInSmallWindow))
  }
}

/**
 * Matches a pattern of an override: `*` is any text and `?` one character.
 * Brackets have no special meaning, because model names contain them: `claude-sonnet-4-5[1m]`.
 */
export function matchesText(pattern: string, text: string): boolean {
  return matches(pattern, text, () => true)
}

/**
 * Matches a folder: `*` stays within one name and `**` crosses them.
 * A pattern without a leading `/` is compared with the end of the path, name by name.
 * A pattern that ends in `/**` also matches the folder itself.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const folder = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const whole = pattern.startsWith('/') || pattern.startsWith('**') ? pattern : `**/${pattern}`
  const inside = (character: string) => character !== '/'
  if (matches(whole, folder, inside)) return true
  return whole.endsWith('/**') && matches(whole.slice(0, -3), folder, inside)
}

/** Backtracks only to the last star, and from there to the last double star: never exponential. */
function matches(pattern: string, text: string, starMayCover: (character: string) => boolean): boolean {
  let p = 0
  let t = 0
  let star: { p: number; t: number } | null = null
  let doubleStar: { p: number; t: number } | null = null
  while (p < pattern.length || t < text.length) {
    if (pattern.startsWith('**', p)) {
      doubleStar = { p, t }
      star = null
      p += 2
    } else if (pattern[p] === '*') {
      star = { p, t }
      p += 1
    } else if (t < text.length && (pattern[p] === text[t] || (pattern[p] === '?' && starMayCover(text[t]!)))) {
      p += 1
      t += 1
    } else if (star && star.t < text.length && starMayCover(text[star.t]!)) {
      star.t += 1
      p = star.p + 1
      t = star.t
    } else if (doubleStar && doubleStar.t < text.length) {
      doubleStar.t += 1
      star = null
      p = doubleStar.p + 2
      t = doubleStar.t
    } else {
      return false
    }
  }
  return true
}
