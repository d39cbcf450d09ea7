import type { CallEntry, ResultEntry, TextEntry } from '../contract/conversation.js'
import type { Fact } from '../contract/fact.js'
import { clausesBeforeQuestion } from './constraint-words.js'
import { isOrder } from './decision-english.js'
import { asksToConfirm, isHedged, isLink, saysNothing, withoutOffers } from './decision-exclusions.js'
import { AGREES, hasDecisionForm, MAY_STATE } from './decision-table.js'
import { type Language, languageOf } from './language.js'
import { givenPlan, ownProse } from './own-prose.js'
import { pickedOption } from './picked-option.js'
import { proposalsIn } from './proposals.js'
import { sentencesOf } from './sentences.js'
import type { Watcher } from './watcher.js'

/** How a decision was made, in `detail.how`. */
type Way = 'said' | 'dialog' | 'plan approved' | 'plan refused' | 'plan given' | 'feedback' | 'agreed' | 'picked'

interface State {
  found: Map<string, Fact>
  /** The agent's newest text, while no call followed it. Null when its turn goes on. */
  offer: TextEntry | null
}

/** Longest answer that is one decision; of a longer one each sentence is. */
const LONGEST_ANSWER = 160
const LONGEST_PART = 400
const LONGEST_QUESTION = 120

/**
 * Collects choices between ways.
 * Choices are the user's answers in dialogs, and plans that the user approved or refused.
 * Choices are also statements of user or agent on what they chose, concluded or leave out.
 * A choice repeated later counts where it was made last.
 */
export function watchDecisions(state: State = { found: new Map(), offer: null }): Watcher {
  const { found } = state
  const put = (text: string, { line, at }: Pick<TextEntry, 'line' | 'at'>, detail: Fact['detail']): void => {
    found.delete(text)
    for (const earlier of found.values()) {
      if (earlier.line !== line && isSuperseded(earlier, detail))
        earlier.detail = { ...earlier.detail, superseded: line }
    }
    found.set(text, { kind: 'decision', text, line, at, state: null, detail })
  }
  return {
    state,
    said: (entry) => {
      const { by, text } = entry
      if (by === 'other') return
      if (by === 'user') {
        const title = givenPlan(text)
        if (title !== null) return put(title, entry, { by, how: 'plan given' satisfies Way })
        const { offer } = state
        state.offer = null
        const picked = offer === null ? null : pickedOption(text, offer.text)
        if (picked !== null) {
          const { said, option } = picked
          const detail = { by, how: 'picked' satisfies Way, said, option }
          put(`${said} (picked: ${option})`, entry, detail)
          for (const choice of statedChoices(text, by)) if (!said.includes(choice)) put(choice, entry, { by })
          return
        }
        if (offer !== null && text.length <= LONGEST_AGREEMENT && AGREES.test(text)) {
          for (const one of proposalsIn(offer.text)) put(one, offer, { by, how: 'agreed' satisfies Way })
        }
        if (entry.feedback === true) {
          const detail = { by, how: 'feedback' satisfies Way }
          for (const one of steeringSentences(text)) put(one, entry, detail)
          return
        }
      } else state.offer = entry
      if (by === 'user' && AGREES.test(text)) return
      for (const choice of statedChoices(text, by)) put(choice, entry, { by })
    },
    called: (call) => {
      const { offer } = state
      state.offer = null
      if (offer === null || call.act.type !== 'change') return
      const language = languageOf(offer.text)
      for (const one of sentencesOf(offer.text)) {
        if (!one.question && hasDecisionForm(one, 'agent', language, true)) put(one.text, offer, { by: 'agent' })
      }
    },
    returned: (entry, call) => {
      if (call.act.type !== 'ask') return
      if (call.act.plan === undefined) for (const one of dialogChoices(entry)) put(one.text, entry, one.detail)
      else {
        const verdict = planVerdict(entry, call)
        if (verdict !== null) put(verdict.text, entry, verdict.detail)
      }
    },
    facts: () => [...found.values()],
  }
}

/**
 * True when a later choice replaces an earlier one.
 * A replacing choice answers the same question, or gives a verdict on the same plan.
 */
function isSuperseded({ text, detail }: Fact, later: Fact['detail']): boolean {
  if (detail.superseded !== undefined || detail.by !== later.by) return false
  if (later.how === 'dialog')
    return detail.how === 'dialog' && detail.question === later.question && detail.answer !== later.answer
  return typeof later.plan === 'string' && later.plan !== '' && detail.plan === later.plan && text !== ''
}

/** Longest prompt that only agrees. */
const LONGEST_AGREEMENT = 80
/** A question that states something and asks for consent: "the branch is based on main, right?" */
const TAG_QUESTION = /\b(?:yeah|right|correct|no|ok(?:ay)?)\?$/i

/** Returns the sentences with which a user steers the work when declining a call. */
function steeringSentences(text: string): string[] {
  const language = languageOf(text)
  const signs = language === 'en' ? USER : [OTHERS[language]]
  return text
    .split('\n')
    .flatMap((line) => sentencesOf(line))
    .filter(
      (one) =>
        TAG_QUESTION.test(one.text) ||
        (!one.question && isOrder(one.text)) ||
        statesChoice(one, 'user', signs, language),
    )
    .slice(0, MOST_PARTS)
    .map(({ text: words }) => shorten(words, LONGEST_PART))
}

interface Choice {
  text: string
  detail: Fact['detail']
}

/** Returns the user's answers, each with the question that gives it a meaning. */
function dialogChoices({ answered }: ResultEntry): Choice[] {
  return (answered ?? []).flatMap(({ question, answer }) => {
    const asked = shorten(question.replace(/\s+/g, ' ').trim(), LONGEST_QUESTION)
    const parts = (answer.length <= LONGEST_ANSWER ? [answer] : splitAnswer(answer)).filter(
      (part, _, all) => !NO_CHOICE.test(part) && !(all.length > 1 && HEADING_END.test(part)),
    )
    return parts
      .slice(0, MOST_PARTS)
      .map((whole) => shorten(whole, LONGEST_PART))
      .map((part) => ({
        text: BARE_ANSWER.test(part) ? `"${asked}"="${part}"` : `${part.replace(/\s+/g, ' ').trim()} (asked: ${asked})`,
        detail: { by: 'user', how: 'dialog' satisfies Way, question: asked, answer: part },
      }))
  })
}

/** Most sentences of one typed answer that count. A longer one is a pasted document. */
const MOST_PARTS = 5
/** Answers that ask back, leave the choice to the agent, or only move to the next question. */
const NO_CHOICE = new RegExp(
  String.raw`[?？]\s*$|^(?:u+h+|h+m+|what|why|how)\b.*[?？](?:\s|$)|^(?:h+m+|uh+|lol|you decide|up to you|` +
    String.raw`your call|next(?: \w+)?|move on|continue|` +
    String.raw`done(?: with .*)?|no more)\W*$`,
  'i',
)

/** Answers that mean nothing alone. They are written with their question, as the client does. */
const BARE_ANSWER = /^(?:yes|no|ok(?:ay)?|sure|はい|いいえ|네|예|아니요?|是|否|好|ja|nein|oui|non|sí)[.!。]?$/iu

/** Returns the sentences of an answer. Each line that the user typed is a statement of its own. */
function splitAnswer(answer: string): string[] {
  const sentences = answer.split('\n').flatMap((line) => sentencesOf(line).map(({ text }) => text))
  return sentences.length === 0 ? [answer] : sentences
}

/** Returns what the user said about a plan. Null when the dialog was closed without a verdict. */
function planVerdict({ ok, declined }: ResultEntry, { act }: CallEntry): Choice | null {
  if (act.type !== 'ask' || !act.plan) return null
  if (ok !== false) return planChoice(act.plan, 'plan approved')
  return declined === true ? planChoice(act.plan, 'plan refused') : null
}

const planChoice = (title: string, how: Way): Choice => ({
  text: `${title} (${how})`,
  detail: { by: 'user', how, plan: title },
})

const shorten = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`

/** Longest prompt that is one direction, such as "no caching" or "just the headings". */
const LONGEST_DIRECTION = 45
const DIRECTION = new RegExp(
  '^(?:no|use|just|only|skip|without|drop|keep|leave) ' +
    String.raw`(?!(?:idea|problem|worries|thanks|need|wait|(?:fix|do|run|try) (?:it|that|this))\b)\S`,
  'i',
)

/** Returns the sentences of a text that state a choice. */
function statedChoices(text: string, by: 'user' | 'agent'): string[] {
  const language = languageOf(text)
  const signs = language !== 'en' ? [OTHERS[language]] : by === 'agent' ? AGENT : USER
  const own = by === 'user' ? ownProse(text) : withoutOffers(text)
  const direction = own.replace(/^\/[\w:.-]+ +/, '').trim()
  if (by === 'user' && direction.length <= LONGEST_DIRECTION && DIRECTION.test(direction)) return [direction]
  return sentencesOf(own)
    .filter((one) => statesChoice(one, by, signs, language))
    .map((one) => one.text)
}

function statesChoice(
  { text, question }: { text: string; question: boolean },
  by: 'user' | 'agent',
  signs: RegExp[],
  language: Language,
): boolean {
  const plain = text.replace(/[’‘]/g, "'")
  if (by === 'user') {
    const told = !question ? plain : asksToConfirm(plain) ? null : clausesBeforeQuestion(plain)
    if (saysNothing(plain)) return false
    if (hasDecisionForm({ text: plain, question }, by, language)) return true
    return told !== null && (isDecision(told, signs) || hasDecisionForm({ text: told, question: false }, by, language))
  }
  if (question || isHedged(plain) || isLink(plain) || plain.length > LONGEST_STATEMENT) return false
  return (
    isDecision(plain, signs) ||
    (!HEADING_END.test(plain) && MAY_STATE.test(plain) && hasDecisionForm({ text, question }, by, language))
  )
}

const HEADING_END = /[:：][*_]*$/
/** Longest sentence of an agent that states one choice. */
const LONGEST_STATEMENT = 500
const BOTH = [
  new RegExp(
    String.raw`\b(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|opted|settled|went|picked) (?:to|on|` +
      String.raw`for|against|not|with|that|the|a|an)\b`,
    'i',
  ),
  /\b(?:decision|decided|conclusion|chosen): /i,
  new RegExp(
    String.raw`\b(?:let's|lets|let us) (?:go|stick|use|keep|do|take|stay|drop|settle|make) (?:with|to|` +
      String.raw`it|the|on|a|this|that|for|\w+ instead)\b`,
    'i',
  ),
  /\b(?:going|go|went|stick(?:ing)?) with (?!the flow)[\w`"']/i,
  /\b(?:we|i) (?:agreed|agree) (?:on|to|that)\b/i,
]
/** Verbs with which an agent describes a choice of its own. */
const CHOICE_VERBS = [
  'keep|kept|use|used|using|put|made|make|leave|left|store|stored|storing|moved?|moving|write|wrote|do|did',
  'load|loaded|read|parse|hash|sort|sorted|decode|split|stay|stayed|stick|stuck|prefer|preferred|take|took',
  'add|added|avoid|avoided|subscribe|subscribed|call|called|cache|cached|build|built|return|handle|handled',
  'wrap|wrapped|place|placed|do it|did it|did this|went|go|pass|passed|treat|treated|rename|renamed|pin|pinned',
  'model|modelled|choose|chose|implement|implemented|run|hold|held|skip|skipped|revert|reverted|merge|merged',
  'turn|turned|let|limit|limited|set|drop|dropped|require|required|compute|computed|generate|generated|catch',
  'caught|raise|raised|log|logged|switch|switched|replace|replaced|extend|extended|copy|copied|check|checked',
  'validate|validated|round|rounded',
].join('|')
const CHOOSES =
  "(?:'ll| will|'m going to| am going to|'m| am|'d| would)?(?: (?:now|also|still|therefore|deliberately))? " +
  `(?:${CHOICE_VERBS})\\b`
const AGENT = [
  ...BOTH,
  new RegExp(
    String.raw`\b(?:i|we)(?:'ll| will| have|'ve)? (?:reject(?:ed)?|ruled? out|rul(?:ed|ing) out|` +
      String.raw`dropped|abandon(?:ed)?|discard(?:ed)?|chose|chosen|picked)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:i|we)(?:'m| am|'re| are) (?:dropping|rejecting|ruling out|abandoning|discarding|` +
      String.raw`choosing|picking|opting|keeping|sticking|leaving out|skipping)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:my|the|a) (?:better |best |right |safer |simpler )?(?:choice|decision|approach|` +
      String.raw`design)(?: here)?(?:: | (?:is|was|will be|i took|we take)\b)`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:the|an?|one|my) (?:\w+ )?(?:simplest|cleanest|safest|best|better|proper|correct|` +
      String.raw`right|real|robust|long-term|minimal|actual) (?:\w+ ){0,2}(?:fix|solution|approach|way|` +
      String.raw`option|choice|place|design|answer)\b`,
    'i',
  ),
  /\b(?:the|this) (?:\w+ )?(?:fix|solution|cause|root cause|culprit|trigger|bug|gap) (?:is|was|:)/i,
  /^(?:fix|solution|root cause|conclusion|cause|decision|required|recommendation)\b[^:]{0,20}: ?\S/i,
  new RegExp(
    String.raw`\b(?:false positive|flaky|known limitation|separate (?:pr|branch|issue|commit)|` +
      "out of scope|not (?:this|our|the) (?:pr|branch|change)'s|expected behaviou?r|" +
      String.raw`isn't the (?:cause|problem|issue)|not the (?:cause|problem))\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:is|are) (?:actually|both|all|indeed) (?:valid|correct|wrong|intentional|redundant|` +
      String.raw`right)\b|\bcomments? (?:is|are) (?:valid|stale|wrong|correct)\b`,
    'i',
  ),
  /\b(?:this is|there is|there's) a gap we accept\b|\baccept(?:ed)? (?:this|it|that) (?:for now|as)\b/i,
  new RegExp(
    String.raw`\b(?:we|it|code|harness|(?<![\w.])[\w.]{1,60}\x60) (?:should(?:n't| not)?|must not|` +
      'need(?:s)? to also|' +
      'needs? to (?:call|reject|return|keep)) (?:also |only |still |never |always )?(?:add|use|' +
      'fix|return|compute|call|reject|store|track|include|update|remove|keep|rely|skip|' +
      String.raw`handle)\b`,
    'i',
  ),
  /\bi need to (?:also )?(?:add|update|fix|change|remove|keep) (?=.*`).{0,80}\b(?:to|when|for|directives?)\b/i,
  /(?:^|: |[–—-] )(?:skipped|deferred|rejected|not needed|won't fix|no change needed|postponed)\b/i,
]
/** Patterns of choices that name a reason or the rejected alternative. */
const REASONED = [
  /\b(?:i'd|we'd|i would|we would) rather\b.{3,160}\bthan\b/i,
  new RegExp(
    `\\b(?:i|we)${CHOOSES}(?! (?:not|with (?:the )?(?:failing|first)))\\b.{2,200}` +
      '\\b(?:rather than|instead of|instead$|because|since|so that|over|and not|not the)\\b',
    'i',
  ),
  new RegExp(`\\b(?:instead of|rather than|since|because)\\b.{2,100}[, ](?:i|we)${CHOOSES}`, 'i'),
  /\b(?:is|are|was|were|will be|gets?|stays?|goes|go|lives?)\b[^.]{2,120}\b(?:rather than\b|instead[.!]?$)/i,
  /^(?:so )?\w+(?:ed|t)\b[^.]{3,160}\b(?:rather than\b|instead of\b.*\b(?:because|so that|since)\b)/i,
  /\b(?:i|we)(?:'d| would)? (?:recommend|suggest|propose|favou?r)\b.{3,160}\b(?:over|because|rather than|instead)\b/i,
]
const REASON = /rather|instead|because|since|so that|over|and not|not the/i
const USER = [
  ...BOTH,
  new RegExp(
    '^(?:(?:yes|ok|okay|good|fine|no|hmm|alright|right|great)[,.! ]+)*(?:go (?:with|for)|' +
      'take|choose|pick|use|do|option|variant|plan) (?:option |variant |plan |' +
      String.raw`the )?(?:[a-d1-4]|first|second|third|latter|former)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:we|i)(?:'ll| will) (?:go|use|keep|stay|stick|take|drop|ship|do (?:that|this|it)|` +
      String.raw`handle|fix|merge|test|run|instruct|deploy|push|write|check)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:let's|lets|let us) (?:just|not|only|also|first|now|get|go back|write|put|add|` +
      String.raw`remove|leave|revert|split|skip|defer|call|rename|move (?:it|this|that)|keep)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:file|log|create|open|raise) (?:an?|the) (?:\w+ ){0,2}(?:issue|ticket)\b|` +
      String.raw`\b(?:separate|own|another|new) (?:branch|pr)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:i'd say|i would say|i'm fine with|seems? like (?:a|the) (?:\w+ ){0,2}(?:path|way|` +
      String.raw`option|plan)|sounds (?:good|right)|works for me|prs? works?)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\bi (?:(?:like|prefer|choose) (?:the|this|that|it|option|variant|approach|your)\b|` +
      'concede|removed|deleted|reverted|merged|closed|moved|disabled|' +
      String.raw`already (?:did|fixed|merged))\b`,
    'i',
  ),
  /\b(?:option|variant|approach|plan) (?:[a-d]|\d)\b/i,
  /\b(?:can be|should be) (?:closed|dropped|removed|skipped|reverted|deferred)\b/i,
  /\b(?:going|went) back\b|^(?:use|do|make|put|take|show|write|call)\b.{1,120}\binstead\b|^no,? don't \w+/i,
]

const OTHERS: Record<Exclude<Language, 'en'>, RegExp> = {
  de: new RegExp(
    String.raw`(?<!\p{L})(?:habe? (?:ich )?(?:mich|uns) (?:\S+ ){0,8}entschieden|entschieden (?:mich|` +
      String.raw`uns)|habe (?:\S+ ){1,12}(?:gewählt|statt|anstatt)|(?:nehme|verwende|nutze|` +
      String.raw`behalte)n? (?:ich|wir)? ?(?:\S+ ){0,12}(?:statt|anstatt|anstelle|weil))(?!\p{L})`,
    'iu',
  ),
  es: new RegExp(
    String.raw`(?<!\p{L})(?:he(?:mos)? (?:preferido|decidido|optado|elegido)|decidí|opté|elegí|(?:uso|` +
      String.raw`usaré|dejo|mantengo|prefiero) (?:\S+ ){0,12}(?:en lugar de|en vez de|porque))(?!\p{L})`,
    'iu',
  ),
  fr: new RegExp(
    String.raw`(?<!\p{L})(?:j['’]ai (?:choisi|décidé|opté|préféré|retenu)|nous avons (?:choisi|décidé|` +
      String.raw`opté)|(?:j['’]utilise|je garde|je préfère|je prends) (?:\S+ ){0,12}(?:plutôt que|` +
      String.raw`au lieu de|parce que|car))(?!\p{L})`,
    'iu',
  ),
  zh: /(?:我|我们)?(?:决定|选择了|选用|改用|最终采用|采用了?).{2,60}(?:而不是|而非|因为|代替)|(?:决定|选择)(?:不|用|采用|使用|把)/,
  ja: new RegExp(
    '(?:ことにし(?:ました|た|ます)|それ(?:は)?やめ|にしておいて|一旦|後回し|見送り|統一します|(?:設計|形|形式|方針)です|ベストです|を選びました|' +
      'を採用し|に決め(?:ました|た))|(?:の代わりに|ではなく).{1,40}(?:を使|にし|採用|選)',
    '',
  ),
  ko: /(?:하기로\s?(?:했|결정)|으로\s?(?:결정|선택)|대신\s?.{1,40}(?:사용|쓰))/u,
  ru: new RegExp(
    String.raw`(?<!\p{L})(?:я |мы )?(?:решил[аи]?|выбрал[аи]?|предпочёл|предпочел|предпочла)(?!\p{L})|` +
      String.raw`(?<!\p{L})(?:использую|оставляю|сделал[аи]?|беру) (?:\S+ ){0,12}(?:вместо|потому что|` +
      String.raw`так как)(?!\p{L})`,
    'iu',
  ),
}

/** Intentions for the next minute, which are no decisions. */
const NEXT_STEP = new RegExp(
  '^(?:(?:ok|okay|now|first|next|good|great|right|so|then|alright)[,.! ]+)*(?:let me|' +
    "i'll (?:look|check|start|read|run|see|now|first|begin|try|have to|take a look|" +
    'go through|have a look|search|find|open|verify|fix (?:that|this|it)|add a test)|' +
    "i will (?:look|check|start|read|run|now|first)|let's (?:see|look|check|start|run|try|" +
    String.raw`find))\b`,
  'i',
)

/** Quick filter: each choice of an agent contains one of these, and most sentences contain none. */
const QUICK_FILTER = new RegExp(
  'deci[ds]|cho[io]|chose|opted|settled|went|picked|go(?:ing)? with|stick|rather|instead|because|' +
    'since|so that|over|' +
    'and not|not the|agree|let.?s |let us|approach|design|reject|ruled|ruling|dropped|abandon|discard|opting|' +
    'keeping|leaving|skipp|picking|choosing|dropping|discarding|abandoning|sticking|' +
    'rule out|ruling|better|right |place|bug |not needed|problem|option|answer|way |conclusion|fix |fix:|' +
    'solution|cause|culprit|trigger|required|recommend|false pos|' +
    'flaky|limitation|separate|scope|expected|actually|both|indeed|comment|accept|should|must not|needs? to|' +
    'deferred|postponed|change needed|won.t fix|simplest|cleanest|safest|proper|robust|the bug|the gap|best way',
  'i',
)

/** Fewest characters of a user's sentence before a list that says something by itself. */
const SHORTEST_INTRODUCTION = 15

function isDecision(sentence: string, signs: RegExp[]): boolean {
  const isHeading = HEADING_END.test(sentence) && (signs === AGENT || sentence.length < SHORTEST_INTRODUCTION)
  if (isHeading || (signs === AGENT && !QUICK_FILTER.test(sentence))) return false
  const plain = sentence.replace(/[’‘]/g, "'")
  if (NEXT_STEP.test(plain) && !/\b(?:because|rather than|instead of)\b/i.test(plain)) return false
  if (signs.some((one) => one.test(plain))) return true
  return signs === AGENT && REASON.test(plain) && REASONED.some((one) => one.test(plain))
}
