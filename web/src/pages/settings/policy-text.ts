import type { Settings } from '../../../../src/contract/api/settings.js'
import { bytesText, countedNoun, durationText, groupedText } from '../../parts/format.js'

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
    { title: 'Limits of automatic handoffs', statements: guards(settings.guards) },
    { title: 'Archive', statements: archive(settings.archive) },
  ]
}

/** Says whether Baton is on and what set it. Text between backticks is shown as code. */
export function switchText({ enabled, enabled_by: by }: Pick<Settings, 'enabled' | 'enabled_by'>): string {
  const quiet = '. It measures, but sends no messages.'
  if (by === 'configuration')
    return enabled ? 'Baton is on.' : `Baton is off, because a file contains \`enabled: false\`${quiet}`
  const [command, session] = by.split(/( for this session)$/) as [string, string | undefined]
  const state = `Baton is ${enabled ? 'on' : 'off'}${session ?? ''}, because \`${command}\` was run`
  return enabled ? `${state}.` : `${state}${quiet} \`${command.replace('off', 'on')}\` turns it on.`
}

const COMPACTIONS: Record<Settings['compaction'], string> = {
  allow: 'The client compacts without instructions from Baton.',
  instruct: 'Baton tells the client what its summary must keep.',
  'block-and-hand-off':
    'Baton blocks a compaction if a handoff can follow. Otherwise it tells the client what its summary must keep.',
}

function compaction({ compaction: value, must_survive: texts }: Settings): PolicyStatement[] {
  const text =
    texts.length === 0
      ? 'Baton chooses what a summary must keep. You have added nothing.'
      : `You added what every summary must keep: ${texts.map((text) => `“${text}”`).join(', ')}.`
  return [
    { key: 'compaction', value, text: COMPACTIONS[value] },
    { key: 'must_survive', value: texts.length === 0 ? '[]' : '', text },
  ]
}

const MODES: Readonly<Record<string, string>> = {
  auto: 'Baton asks the agent for a brief and starts a fresh session with it.',
  ask: 'Baton tells you when it is time. /handoff then starts the handoff.',
  off: 'No level starts a handoff.',
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
          ? 'In a large window the early handoff level starts a handoff.'
          : 'In a large window the early handoff level only offers a handoff.',
    },
    { key: 'handoff.review_seconds', value: String(review), text: reviewText(review) },
    {
      key: 'handoff.bar',
      value: String(bar),
      text: `If a brief covers less than ${Math.round(bar * 100)}% of the facts, Baton asks the agent once more.`,
    },
    {
      key: 'handoff.fork',
      value: String(fork),
      text: fork
        ? 'If the agent gives no brief, a copy of its session writes it, at the cost of one whole-context request.'
        : 'If the agent gives no brief, Baton writes it without a model.',
    },
  ]
}

function reviewText(review: Settings['handoff']['review_seconds']): string {
  if (review === 'approval') return 'A brief is used only after you approve it.'
  return review === 0
    ? 'A brief is used at once, without a review.'
    : `A brief is used ${durationText(review * 1_000)} after it is ready, unless you cancel it.`
}

function guards(guard: Settings['guards']): PolicyStatement[] {
  return [
    {
      key: 'guards.min_new_tokens',
      value: String(guard.min_new_tokens),
      text: `Two handoffs are at least ${groupedText(guard.min_new_tokens)} tokens of new work apart.`,
    },
    {
      key: 'guards.max_unattended_per_hour',
      value: String(guard.max_unattended_per_hour),
      text: `A seat hands over at most ${countedNoun(guard.max_unattended_per_hour, 'time')} an hour.`,
    },
    {
      key: 'guards.cooldown_seconds',
      value: String(guard.cooldown_seconds),
      text:
        guard.cooldown_seconds === 0
          ? 'There is no minimum time between two handoffs.'
          : `Two handoffs are at least ${durationText(guard.cooldown_seconds * 1_000)} apart.`,
    },
    {
      key: 'guards.breaker_after',
      value: String(guard.breaker_after),
      text: `After ${countedNoun(guard.breaker_after, 'failure')} in a row, a seat hands over only on request.`,
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
      text: moments.length === 0 ? 'Transcripts are kept only on request.' : `Transcripts are kept ${list(moments)}.`,
    },
    {
      key: 'archive.keep_days',
      value: days === null ? '' : String(days),
      text: days === null ? 'They stay until you prune or forget them.' : `They stay for ${countedNoun(days, 'day')}.`,
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
