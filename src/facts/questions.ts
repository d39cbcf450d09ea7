import type { Called, Said } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { sentencesOf } from './sentences.js'
import type { Watcher } from './watcher.js'

type Asked = Omit<Fact, 'state' | 'kind'>

/**
 * Questions nobody answered. The agent's: asked by tool, or standing in the text its turn ended with. The user's: no text that ends a
 * turn came after it. Whether an answer is a good one, code cannot tell: any is taken for one.
 */
export function watchQuestions(): Watcher {
  const answered: Fact[] = []
  /** In the newest text of the agent: a question only counts when nothing more came from him. */
  let agents: Asked[] = []
  let users: Asked[] = []
  const dialogs = new Map<string, { call: Called; declined: boolean }>()
  let endsWithText = false

  const settle = (questions: Asked[]): void => {
    answered.push(...questions.map((one): Fact => ({ ...one, kind: 'question', state: 'answered' })))
  }

  return {
    said: (entry) => {
      if (entry.by === 'agent') {
        agents = agentsQuestions(entry)
        endsWithText = true
      } else if (entry.by === 'user') {
        settle(agents)
        agents = []
        for (const [id, { call, declined }] of dialogs) {
          if (!declined) continue
          settle(dialogQuestions(call))
          dialogs.delete(id)
        }
        if (endsWithText) settle(users)
        users = [...(endsWithText ? [] : users), ...usersQuestions(entry)]
        endsWithText = false
      }
    },
    called: (call) => {
      if (call.tool === '!' || call.tool === '@') return
      agents = []
      endsWithText = false
      if (call.act.type === 'ask') dialogs.set(call.callId, { call, declined: false })
    },
    returned: (returned, call) => {
      const dialog = dialogs.get(call.callId)
      if (dialog === undefined) return
      if (returned.ok !== false) {
        settle(dialogQuestions(call))
        dialogs.delete(call.callId)
      } else if (returned.interrupted) dialog.declined = true
      else dialogs.delete(call.callId)
    },
    facts: () => {
      const open = [...[...dialogs.values()].flatMap(({ call }) => dialogQuestions(call)), ...agents]
      if (endsWithText) return [...answered, ...users.map(close), ...open.map(leave)]
      return [...answered, ...[...open, ...users].map(leave)]
    },
  }
}

const leave = (one: Asked): Fact => ({ ...one, kind: 'question', state: 'open' })
const close = (one: Asked): Fact => ({ ...one, kind: 'question', state: 'answered' })

function dialogQuestions(call: Called): Asked[] {
  if (call.act.type !== 'ask') return []
  return call.act.questions.map((text) => ({ text, line: call.line, at: call.at, detail: { by: 'agent', dialog: true } }))
}

/** Offers of help at the end ask nothing. */
const COURTESY =
  /^(?:any(?:thing)? (?:else|questions|other)|is there anything else|does that (?:help|make sense)|make sense|sound good|what's next|what next|right|ok|okay)\b/i

function agentsQuestions({ text, line, at }: Said): Asked[] {
  const sentences = sentencesOf(text)
  return sentences
    .filter((one, i) => one.question && !COURTESY.test(one.text) && !answersItself(sentences[i + 1]?.text))
    .map((one) => ({ text: one.text, line, at, detail: { by: 'agent', dialog: false } }))
}

/** "Why? Because …": asked for effect. */
const answersItself = (next: string | undefined): boolean =>
  next !== undefined && /^(?:because|since|yes\b|no\b|it turns out|the answer|simple|turns out)/i.test(next)

/** A request put as a question wants deeds, not an answer. */
const REQUEST =
  /^(?:(?:and|so|ok|okay|also|but|then|please|hey|hi|thanks|great|good|now)[,.! ]+)*(?:(?:can|could|would|will) (?:you|we)|would you mind|mind|why don't (?:you|we)|how about (?:you|we)|shall we)\b(?! (?:tell|explain|say|know|confirm))/i

function usersQuestions({ text, line, at }: Said): Asked[] {
  return sentencesOf(text)
    .filter((one) => one.question && !REQUEST.test(one.text) && (one.text.length > 12 || /[\u3040-\u9fff]/.test(one.text)))
    .map((one) => ({ text: one.text, line, at, detail: { by: 'user', dialog: false } }))
}
