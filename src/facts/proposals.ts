import { sentencesOf } from './sentences.js'

/** Characters at the end of an answer in which it proposes what comes next. */
const PROPOSING_END = 700
const PROPOSES = new RegExp(
  String.raw`\b(?:i(?:'d|'ll| would| suggest| recommend| propose| can)|we (?:can|could|should)|should|` +
    'option|instead|' +
    String.raw`recommend|suggest|propos\w+|plan)\b|(?:提案|案|ましょう|べき)|建议|제안|schlage|propose|propongo`,
  'i',
)
/** A question that asks how the text before it looks. What is agreed to stands there. */
const ASKS_FOR_A_VERDICT =
  /\b(?:looks? (?:right|good|ok(?:ay)?|complete|correct|reasonable)|make sense|sounds? good)\b/i
/** Fewest letters of a question that says what it proposes: "Want me to close it?" does not. */
const TELLING_QUESTION = 45

/** Returns what the end of an answer proposes: its last question, or what that refers to. */
export function proposalsIn(answer: string): string[] {
  const sentences = sentencesOf(answer.slice(-PROPOSING_END))
  const asked = sentences.filter(({ question }) => question)
  const last = asked.at(-1)
  if (last === undefined) return []
  const isTelling =
    !ASKS_FOR_A_VERDICT.test(last.text) &&
    (last.text.length >= TELLING_QUESTION || /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{12}/.test(last.text))
  if (isTelling) return [last.text]
  const before = sentences.slice(0, sentences.indexOf(last)).filter(({ question }) => !question)
  const proposed = before.filter(({ text }) => PROPOSES.test(text.replace(/[’‘]/g, "'"))).slice(-2)
  return proposed.map(({ text }) => text)
}
