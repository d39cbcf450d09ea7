import type { Settings } from '../../../../src/contract/api/settings.js'
import { bytesText, durationText, groupedText, plural } from '../../parts/format.js'

/** A configured value as a sentence, and the key that changes it. */
interface PolicyStatement {
  key: string
  value: string
  text: string
}

interface PolicySection {
  title: string
  statements: PolicyStatement[]
}

/** Returns the effective configuration as sentences, grouped into sections. */
export function policySections(settings: Settings): PolicySection[] {
  return [
    { title: 'Compaction', statements: compaction(settings) },
    { title: 'Handoff', statements: handoff(settings.handoff) },
    { title: 'Guards of unattended handoffs', statements: guards(settings.guards) },
    { title: 'Archive', statements: archive(settings.archive) },
  ]
}

/** Says whether Baton is on and what set it. Text between backticks is shown as code. */
export function switchText({ enabled, enabled_by: by }: Pick<Settings, 'enabled' | 'enabled_by'>): string {
  const quiet = ': it measures and says nothing.'
  if (by === 'configuration')
    return enabled ? 'Baton is on.' : `Baton is off, because a file says \`enabled: false\`${quiet}`
  const [command, session] = by.split(/( for this session)$/) as [string, string | undefined]
  const state = `Baton is ${enabled ? 'on' : 'off'}${session ?? ''}, because somebody ran \`${command}\``
  return enabled ? `${state}.` : `${state}${quiet} \`${command.replace('off', 'on')}\` turns it on.`
}

const COMPACTIONS: Record<Settings['compaction'], string> = {
  allow: 'The client summarises as it likes.',
  instruct: 'The client’s summariser is told what must survive.',
  'block-and-hand-off':
    'A compaction is kept from coming about where a handoff can follow; elsewhere its summariser is told what must survive.',
}

function compaction({ compaction: value, must_survive: texts }: Settings): PolicyStatement[] {
  const text =
    texts.length === 0
      ? 'Nothing must survive beyond what Baton names by itself.'
      : `Must survive: ${texts.map((text) => `“${text}”`).join(', ')}.`
  return [
    { key: 'compaction', value, text: COMPACTIONS[value] },
    { key: 'must_survive', value: texts.length === 0 ? '[]' : '', text },
  ]
}

const MODES: Readonly<Record<string, string>> = {
  auto: 'The agent is asked for its brief and a fresh session goes on from it.',
  ask: 'You are told when it is time, and /handoff begins it.',
  off: 'No level begins a handoff.',
}

function handoff({
  mode,
  large_window: largeWindow,
  review_seconds: review,
  bar,
  fork,
}: Settings['handoff']): PolicyStatement[] {
  return [
    { key: 'handoff.mode', value: mode, text: MODES[mode] ?? mode },
    {
      key: 'handoff.large_window',
      value: largeWindow,
      text:
        largeWindow === 'auto'
          ? 'In a large window the early handoff level hands off as any other.'
          : 'In a large window the early handoff level only offers a handoff.',
    },
    { key: 'handoff.review_seconds', value: String(review), text: reviewText(review) },
    {
      key: 'handoff.bar',
      value: String(bar),
      text: `A brief that covers less than ${Math.round(bar * 100)}% of the facts is asked for once more.`,
    },
    {
      key: 'handoff.fork',
      value: String(fork),
      text: fork
        ? 'A brief the agent does not give is written by a fork of its session, which costs a request with the whole conversation in it.'
        : 'A brief the agent does not give is written by Baton, without a model.',
    },
  ]
}

function reviewText(review: Settings['handoff']['review_seconds']): string {
  if (review === 'approval') return 'A brief is used once somebody approves it.'
  return review === 0
    ? 'A brief is used at once, without a review.'
    : `A brief is used ${durationText(review * 1_000)} after it is ready, unless somebody objects.`
}

function guards(guard: Settings['guards']): PolicyStatement[] {
  return [
    {
      key: 'guards.min_new_tokens',
      value: String(guard.min_new_tokens),
      text: `At least ${groupedText(guard.min_new_tokens)} tokens of new work lie between two handoffs.`,
    },
    {
      key: 'guards.max_unattended_per_hour',
      value: String(guard.max_unattended_per_hour),
      text: `A seat hands over at most ${plural(guard.max_unattended_per_hour, 'time')} an hour.`,
    },
    {
      key: 'guards.cooldown_seconds',
      value: String(guard.cooldown_seconds),
      text:
        guard.cooldown_seconds === 0
          ? 'There is no pause between two of them.'
          : `There are at least ${durationText(guard.cooldown_seconds * 1_000)} between two of them.`,
    },
    {
      key: 'guards.breaker_after',
      value: String(guard.breaker_after),
      text: `${plural(guard.breaker_after, 'failure')} in a row end${guard.breaker_after === 1 ? 's' : ''} them until somebody looks.`,
    },
  ]
}

const MOMENTS: Readonly<Record<string, string>> = {
  'pre-compact': 'before a compaction',
  handoff: 'at a handoff',
  'session-end': 'when a session ends',
}

function archive({ enabled, at, keep_days: days, keep_bytes: bytes }: Settings['archive']): PolicyStatement[] {
  if (!enabled) return [{ key: 'archive.enabled', value: 'false', text: 'Transcripts are not kept.' }]
  const moments = at.map((moment) => MOMENTS[moment] ?? moment)
  return [
    {
      key: 'archive.at',
      value: `[${at.join(', ')}]`,
      text: moments.length === 0 ? 'Transcripts are kept only by hand.' : `Transcripts are kept ${list(moments)}.`,
    },
    {
      key: 'archive.keep_days',
      value: days === null ? '' : String(days),
      text: days === null ? 'They stay until you prune or forget them.' : `They stay for ${plural(days, 'day')}.`,
    },
    {
      key: 'archive.keep_bytes',
      value: bytes === null ? '' : String(bytes),
      text:
        bytes === null ? 'There is no limit on their total size.' : `Together they take at most ${bytesText(bytes)}.`,
    },
  ]
}

const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const ACTIONS: Readonly<Record<string, string>> = {
  user: 'tells you',
  agent: 'tells the agent',
  parent: 'tells the parent seat',
  'request-handoff': 'asks for a brief',
  'hand-off': 'hands over at the end of the turn',
  pause: 'pauses the job',
}

/** Joins the actions of a level: `tells you and the agent, asks for a brief`. */
export function actionsText(actions: readonly string[]): string {
  if (actions.length === 0) return 'only appears on the timeline'
  const recipients = actions.flatMap((action) =>
    ACTIONS[action]?.startsWith('tells ') ? [ACTIONS[action].slice(6)] : [],
  )
  const rest = actions.flatMap((action) =>
    ACTIONS[action]?.startsWith('tells ') ? [] : [ACTIONS[action] ?? `runs ${action.replace(/^(web)?hook:/, '')}`],
  )
  return [...(recipients.length === 0 ? [] : [`tells ${list(recipients)}`]), ...rest].join(', ')
}
