import type { CallEntry, ResultEntry, TextEntry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { sentencesOf } from './sentences.js'
import type { Watcher } from './watcher.js'

type AskedQuestion = Omit<Fact, 'state' | 'kind'>

interface State {
  answered: Fact[]
  /** Questions in the agent's newest text. They count only if the agent does not continue. */
  agents: AskedQuestion[]
  users: AskedQuestion[]
  /**
   * Questions that the user put off or did not answer.
   * Each stays open until the user mentions its subject, or for `MOST_PROMPTS` more prompts.
   */
  left: AskedQuestion[]
  dialogs: Map<string, { call: CallEntry; declined: boolean }>
  endsWithText: boolean
  /** True when a program wrote since the agent's question, such as a background task that ended. */
  isNotified?: boolean
  /** True when the agent wrote something that may answer the user's newest questions. */
  hasReplied: boolean
}

const newState = (): State => ({
  answered: [],
  agents: [],
  users: [],
  left: [],
  dialogs: new Map(),
  endsWithText: false,
  hasReplied: false,
})

/**
 * Collects questions and whether they were answered.
 * A question of the agent counts if a tool asked it or its turn ended with it.
 * A question of the user is answered by the next text that ends a turn.
 * Code cannot judge the quality of an answer, so any reply counts.
 */
export function watchQuestions(state: State = newState()): Watcher {
  const { answered, dialogs } = state

  const settle = (questions: AskedQuestion[]): void => {
    for (const one of questions) answered.push(answeredQuestion(one))
  }

  return {
    state,
    said: (entry) => {
      if (entry.by === 'agent') {
        const asked = agentsQuestions(entry)
        // A remark about a notification leaves the question before it open.
        if (asked.length > 0 || state.isNotified !== true) state.agents = asked
        state.isNotified = false
        state.endsWithText = true
        if (state.users.length > 0 && mayReply(entry.text, state.users)) state.hasReplied = true
      } else if (entry.by === 'user') {
        state.isNotified = false
        const declined = [...dialogs.values()].filter((one) => one.declined)
        for (const { call } of declined) dialogs.delete(call.callId)
        const asked = [...state.agents, ...declined.flatMap(({ call }) => dialogQuestions(call))]
        state.agents = []
        const putsOff = (state.left.length > 0 || asked.length > 0) && PUTS_OFF.test(entry.text)
        if (putsOff) state.left = [...state.left, ...asked]
        else {
          const unanswered = unansweredOf(asked, entry.text)
          const overtaken = state.left.filter(isOvertaken)
          for (const one of overtaken) answered.push(droppedQuestion(one))
          state.left = unmentioned(
            state.left.filter((one) => !overtaken.includes(one)),
            entry.text,
          ).map(countPrompt)
          state.left.push(...unanswered)
          settle(asked.filter((one) => !unanswered.includes(one)))
        }
        const isAnswered = state.endsWithText || state.hasReplied
        if (isAnswered) settle(state.users)
        else answered.push(...state.users.filter(isOvertaken).map(droppedQuestion))
        const waiting = isAnswered ? [] : state.users.filter((one) => !isOvertaken(one))
        state.users = [...waiting.map(countPrompt), ...usersQuestions(entry)]
        state.endsWithText = false
        state.hasReplied = false
      } else if (entry.stops) state.endsWithText = false
      else state.isNotified = state.agents.length > 0
    },
    called: (call) => {
      if (call.tool === '!' || call.tool === '@') return
      state.agents = []
      state.endsWithText = false
      if (call.act.type === 'ask') dialogs.set(call.callId, { call, declined: false })
    },
    returned: (returned, call) => {
      const dialog = dialogs.get(call.callId)
      if (dialog === undefined) return
      if (returned.ok !== false) {
        const answers = withAnswers(dialogQuestions(call), returned)
        settle(answers)
        dialogs.delete(call.callId)
      } else if (call.act.type === 'ask' && call.act.plan !== undefined) {
        // Declining a plan is the answer: it was refused.
        settle(dialogQuestions(call))
        dialogs.delete(call.callId)
      } else if (returned.interrupted) {
        dialog.declined = true
        const known = new Set((returned.answered ?? []).map(({ question }) => question))
        if (known.size === 0 || call.act.type !== 'ask') return
        settle(
          withAnswers(
            dialogQuestions(call).filter(({ text }) => known.has(text)),
            returned,
          ),
        )
        const act = { ...call.act, questions: call.act.questions.filter((one) => !known.has(one)) }
        dialogs.set(call.callId, { call: { ...call, act }, declined: true })
      } else dialogs.delete(call.callId)
    },
    facts: () => {
      const open = [
        ...state.left,
        ...[...dialogs.values()].flatMap(({ call }) => dialogQuestions(call)),
        ...state.agents,
      ]
      if (state.endsWithText || state.hasReplied)
        return [...answered, ...state.users.map(answeredQuestion), ...open.map(openQuestion)]
      return [...answered, ...[...open, ...state.users].map(openQuestion)]
    },
  }
}

/**
 * After this many user prompts that do not mention it, a question counts as overtaken.
 * On real sessions this doubled the precision of open questions and lost no open one.
 */
const MOST_PROMPTS = 2

const isOvertaken = ({ detail }: AskedQuestion): boolean => Number(detail.prompts ?? 0) + 1 >= MOST_PROMPTS

const countPrompt = (one: AskedQuestion): AskedQuestion => ({
  ...one,
  detail: { ...one.detail, prompts: Number(one.detail.prompts ?? 0) + 1 },
})

/** Fewest characters of a text that may answer a question. "Let me check." does not. */
const SHORTEST_REPLY = 60

/** True when a text of the agent may answer one of the questions, also in the middle of a turn. */
function mayReply(text: string, questions: readonly AskedQuestion[]): boolean {
  if (text.length >= SHORTEST_REPLY) return true
  const words = new Set(meaningfulWords(text))
  return questions.some((one) => meaningfulWords(one.text).some((word) => words.has(word)))
}

/** Replies that put a question off: the user answers later, or leaves it to others. */
const PUTS_OFF = new RegExp(
  String.raw`\b(?:(?:i|we)(?:'ll| will| have to| need to|'ve got to) (?:tell|let you know|get back|come back|` +
    "decide|think|ask|check|see|find out|discuss|clarify|figure)|not sure(?: yet)?|don't know(?: yet)?|" +
    'no idea(?: yet)?|let me (?:think|ask|check|sleep|get back)|(?:ask|decide|tell you|answer|discuss|' +
    'talk about|come back to|get to) (?:me |that |this |it |about it )?(?:again )?(?:later|tomorrow|' +
    'another time|next week|afterwards|after)|have to ask|need to ask|still (?:thinking|undecided|open)|' +
    'leave (?:that|it|this) open|(?:that|this|the) (?:question|one) (?:stays|can wait|has to wait|' +
    String.raw`is still open|must wait)|park (?:that|it|this))\b|\b(?:klären wir|kläre ich|` +
    'weiß ich (?:noch )?nicht|sage ich dir|später|muss ich (?:noch )?(?:fragen|klären)|' +
    'entscheide[n]? (?:ich|wir)|lo vemos|te digo|no sé|más tarde|luego te|je te dirai|je ne sais pas|' +
    'plus tard|on verra|je demande)|稍后|以后再|还不确定|再说|后で|まだ(?:わから|決ま)|確認してから|позже|потом скажу|не знаю|' +
    'уточню',
  'i',
)

/** Returns the questions that a text does not mention: it shares fewer than two words with them. */
function unmentioned(questions: AskedQuestion[], text: string): AskedQuestion[] {
  if (questions.length === 0) return questions
  const words = new Set(meaningfulWords(text))
  return questions.filter((one) => meaningfulWords(one.text).filter((word) => words.has(word)).length < 2)
}

/**
 * Returns the questions of a list that the user's reply leaves open.
 * A question is open when the reply shares no word with it and is shorter than the list.
 * A reply to one or two questions, or a general one, answers all.
 */
function unansweredOf(asked: AskedQuestion[], reply: string): AskedQuestion[] {
  const told = sentencesOf(reply).length
  if (asked.length < 3 || asked.length > MOST_ASKED || told >= asked.length || GENERAL.test(reply)) return []
  const words = reply.slice(0, MOST_READ).toLowerCase()
  const untouched = asked.filter(({ text }) => !meaningfulWords(text).some((word) => words.includes(word)))
  return untouched.slice(Math.max(0, untouched.length - (asked.length - told)))
}

/** Upper limit; no user answers more questions one by one. */
const MOST_ASKED = 50
const MOST_READ = 20_000

const GENERAL = new RegExp(
  String.raw`\b(?:all|both|each|every|any|whatever|you decide|your call|up to you|as you|either|yes to|same|` +
    String.raw`defaults?)\b|^(?:yes|no|ok|okay|sure|fine|go ahead|do it)\b`,
  'i',
)

/** Returns the words of a sentence that carry meaning. */
const meaningfulWords = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}{4,}/gu) ?? []).filter((word) => !COMMON.test(word))

const COMMON = new RegExp(
  '^(?:which|what|when|where|should|shall|would|could|want|have|that|this|with|there|from|them|they|' +
    'then|into|also|like|soll|eine|oder|auch|para|como|pour|dans)$',
)

const openQuestion = (one: AskedQuestion): Fact => ({ ...one, kind: 'question', state: 'open' })

/** A question that the user passed over; nobody answered it. */
function droppedQuestion({ detail, ...one }: AskedQuestion): Fact {
  const { prompts: _, ...rest } = detail
  return { ...one, detail: rest, kind: 'question', state: 'dropped' }
}
const answeredQuestion = (one: AskedQuestion): Fact => ({ ...one, kind: 'question', state: 'answered' })

function dialogQuestions(call: CallEntry): AskedQuestion[] {
  if (call.act.type !== 'ask') return []
  return call.act.questions.map((text) => ({
    text,
    line: call.line,
    at: call.at,
    detail: { by: 'agent', dialog: true },
  }))
}

/** Adds the answers to a dialog's questions, by order where the client names no questions. */
function withAnswers(asked: AskedQuestion[], { answered, answers }: ResultEntry): AskedQuestion[] {
  const byQuestion = new Map((answered ?? []).map(({ question, answer }) => [question, answer]))
  return asked.map((one, i) => {
    const answer = answered === undefined ? (answers[i] ?? null) : (byQuestion.get(one.text) ?? null)
    return { ...one, detail: { ...one.detail, answer } }
  })
}

/** Offers of help at the end, which ask nothing. */
const COURTESY = new RegExp(
  '^(?:any(?:thing)? (?:else|questions|other)|is there anything else|does that (?:help|make sense)|' +
    String.raw`make sense|sound good|what's next|what next|right|ok|okay)\b`,
  'i',
)

function agentsQuestions({ text, line, at }: Pick<TextEntry, 'text' | 'line' | 'at'>): AskedQuestion[] {
  const sentences = sentencesOf(text)
  return sentences
    .filter((one, i) => one.question && !COURTESY.test(one.text) && !answersItself(sentences[i + 1]?.text))
    .map((one) => ({ text: one.text, line, at, detail: { by: 'agent', dialog: false } }))
}

/** Maximum distance in characters between the last question and the end of the answer. */
const MOST_BEHIND = 600
const LONGEST_CLOSING = 1_500

/**
 * Returns the question to the user with which an answer of the agent ends.
 * Of several questions, returns all from the first on, with the choices that follow.
 * Null when the answer ends without a question.
 */
export function closingQuestion(answer: string): string | null {
  const text = answer.trimEnd()
  const places = questionsOf(text).flatMap((question) => {
    const at = text.lastIndexOf(question)
    return at < 0 ? [] : [{ at, end: at + question.length }]
  })
  const last = places.at(-1)
  if (last === undefined || text.length - last.end > MOST_BEHIND) return null
  const first = places.find(({ at }) => text.length - at <= LONGEST_CLOSING)?.at ?? last.at
  return text.slice(first).slice(0, LONGEST_CLOSING).trim()
}

/** Returns the questions in an answer of the agent, as written there. */
export function questionsOf(answer: string): string[] {
  return agentsQuestions({ text: answer, line: 0, at: null }).map(({ text }) => text)
}

/** Returns true for a rhetorical question: "Why? Because …". */
const answersItself = (next: string | undefined): boolean =>
  next !== undefined && /^(?:because|since|yes\b|no\b|it turns out|the answer|simple|turns out)/i.test(next)

/** Requests in the form of a question, which want an action and no answer. */
const REQUEST = new RegExp(
  '^(?:(?:and|so|ok|okay|also|but|then|please|hey|hi|thanks|great|good|now)[,.! ]+)*(?:(?:can|could|' +
    "would|will) (?:you|we)|would you mind|mind|why don't (?:you|we)|how about (?:you|we)|" +
    String.raw`shall we)\b(?! (?:tell|explain|say|know|confirm))`,
  'i',
)

function usersQuestions({ text, line, at }: TextEntry): AskedQuestion[] {
  return sentencesOf(text)
    .filter(
      (one) => one.question && !REQUEST.test(one.text) && (one.text.length > 12 || /[\u3040-\u9fff]/.test(one.text)),
    )
    .map((one) => ({ text: one.text, line, at, detail: { by: 'user', dialog: false } }))
}
