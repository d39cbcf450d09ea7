import type { ApiRequest } from './request.js'
import { openingText, promptText } from './request.js'
import type { Conversation, Script, ScriptCondition, ScriptReply, ScriptStep } from './script.js'
import { answerAfter, type ScriptedAnswer, type TokenDefaults, unrollSteps } from './unroll.js'

/** A conversation of the script with its defaults filled in and its steps unrolled. */
export interface ScriptedConversation {
  name: string
  when: ScriptCondition | null
  defaults: TokenDefaults
  /** Answers of the first, second … cycle. The last list also serves all later cycles. */
  cycles: ScriptedAnswer[][]
  rest: ScriptStep
  summary: ScriptStep
  replies: ScriptReply[]
  maximum: number | null
  delayMs: number
}

/**
 * `main` holds the conversations, with the script's own steps last. `sub` holds those of subagents.
 */
export interface PreparedScript {
  main: ScriptedConversation[]
  sub: ScriptedConversation[]
  side: ScriptStep
}

export type ConversationKind = 'main' | 'sub'

export function prepareScript(script: Script): PreparedScript {
  const own: Conversation = { ...script, name: script.name ?? 'main' }
  const sub: Conversation = { name: 'subagent', rest: { text: 'The subagent is done.' }, start: 9008 }
  return {
    main: [...(script.conversations ?? []), own].map((c, i) => toPart(c, script, `conversation-${i + 1}`)),
    sub: [...(script.subagents ?? []), sub].map((c, i) =>
      toPart({ start: 9008, replies: [], ...c }, script, `subagent-${i + 1}`),
    ),
    side: script.side ?? { text: 'Scripted.' },
  }
}

function toPart(conversation: Conversation, script: Script, name: string): ScriptedConversation {
  const defaults = {
    start: conversation.start ?? script.start ?? 20_008,
    grow: conversation.grow ?? script.grow ?? 1000,
  }
  const cycles = [conversation.steps ?? [], ...(conversation.after_compaction ?? [[]])]
  return {
    name: conversation.name ?? name,
    when: conversation.when ?? null,
    defaults,
    cycles: cycles.map((steps) => unrollSteps(steps, defaults)),
    rest: conversation.rest ?? { text: 'The script has no more steps (cycle {{cycle}}, step {{step}}).' },
    summary: conversation.summary ?? script.summary ?? { text: 'A scripted summary of {{step}} steps.' },
    replies: conversation.replies ?? script.replies ?? [],
    maximum: conversation.maximum ?? script.maximum ?? null,
    delayMs: conversation.delay_ms ?? script.delay_ms ?? 0,
  }
}

/**
 * Returns the answer at a step of a cycle, both counted from 0.
 * Past the last step the script's `rest` answers, and its token figures keep growing.
 */
export function answerAt(part: ScriptedConversation, cycle: number, step: number): ScriptedAnswer {
  const answers = cycleOf(part, cycle)
  const found = answers[step]
  if (found) return found
  const over = step - answers.length
  const last = answers.at(-1) ?? null
  const grow = part.rest.grow ?? part.defaults.grow
  const before = last ? { ...last, used: last.used + over * grow } : over > 0 ? ground(part, over, grow) : null
  return answerAfter(part.rest, over + 1, before, part.defaults)
}

const ground = (part: ScriptedConversation, over: number, grow: number): ScriptedAnswer => ({
  step: part.rest,
  n: over,
  used: part.defaults.start + (over - 1) * grow,
  previous: 0,
})

function cycleOf(part: ScriptedConversation, cycle: number): ScriptedAnswer[] {
  return part.cycles[Math.min(cycle, part.cycles.length - 1)] ?? []
}

/** Returns the index of the first conversation whose `when` matches, or else of the last one. */
export function choosePart(parts: ScriptedConversation[], request: ApiRequest): number {
  const found = parts.findIndex(({ when }, i) => i === parts.length - 1 || when === null || holds(when, request))
  return found < 0 ? parts.length - 1 : found
}

function holds(when: ScriptCondition, request: ApiRequest): boolean {
  if (when.prompt !== undefined && !matchesWanted(promptText(request), when.prompt)) return false
  if (when.seen !== undefined && !matchesWanted(openingText(request), when.seen)) return false
  return when.model === undefined || matchesWanted(request.model, when.model)
}

/** Matches `"/a.c/i"` as a regular expression, and any other text as a substring in any case. */
export function matchesWanted(text: string, wanted: string): boolean {
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(wanted)
  if (pattern) return new RegExp(pattern[1]!, pattern[2]).test(text)
  return text.toLowerCase().includes(wanted.toLowerCase())
}
