import type { Fact } from '../contract/fact.js'
import { type Language, languageOf } from './language.js'
import { sentencesOf } from './sentences.js'
import type { Watcher } from './watcher.js'

/** Choices somebody stated, with their reason where they stand in one sentence. What the user chose in a dialog stands with its question. */
export function watchDecisions(state: { found: Map<string, Fact> } = { found: new Map() }): Watcher {
  const { found } = state
  const put = (text: string, line: number, at: number | null, by: string): void => {
    found.delete(text)
    found.set(text, { kind: 'decision', text, line, at, state: null, detail: { by } })
  }
  return {
    state,
    said: ({ by, text, line, at }) => {
      if (by === 'other') return
      const language = languageOf(text)
      const signs = language !== 'en' ? [OTHERS[language]] : by === 'agent' ? AGENT : USER
      for (const one of sentencesOf(text)) if (!one.question && isDecision(one.text, signs)) put(one.text, line, at, by)
    },
    facts: () => [...found.values()],
  }
}

const BOTH = [
  /\b(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|opted|settled|went|picked) (?:to|on|for|against|not|with|that|the|a|an)\b/i,
  /\b(?:decision|decided|conclusion|verdict): /i,
  /\b(?:let's|lets|let us) (?:go|stick|use|keep|do|take|stay|drop|settle|make) (?:with|to|it|the|on|a|this|that|for|\w+ instead)\b/i,
  /\b(?:going|go|went|stick(?:ing)?) with (?!the flow)[\w`"']/i,
  /\b(?:we|i) (?:agreed|agree) (?:on|to|that)\b/i,
]
/** What an agent does by choice, with what it was preferred to or why. */
const CHOOSES =
  "(?:'ll| will|'m going to| am going to|'m| am|'d| would)?(?: (?:now|also|still|therefore|deliberately))? (?:keep|kept|use|used|using|put|made|make|leave|left|store|stored|storing|moved?|moving|write|wrote|do|did|load|loaded|read|parse|hash|sort|sorted|decode|split|stay|stayed|stick|stuck|prefer|preferred|take|took|add|added|avoid|avoided|subscribe|subscribed|call|called|cache|cached|build|built|return|handle|handled|wrap|wrapped|place|placed|do it|did it|did this|went|go|pass|passed|treat|treated|rename|renamed|pin|pinned|model|modelled|choose|chose|implement|implemented|run|hold|held|skip|skipped|revert|reverted|merge|merged|turn|turned|let|limit|limited|set|drop|dropped|require|required|compute|computed|generate|generated|catch|caught|raise|raised|log|logged|switch|switched|replace|replaced|extend|extended|copy|copied|check|checked|validate|validated|round|rounded)\\b"
const AGENT = [
  ...BOTH,
  /\b(?:i|we)(?:'ll| will| have|'ve)? (?:reject(?:ed)?|ruled? out|rul(?:ed|ing) out|dropped|abandon(?:ed)?|discard(?:ed)?|chose|chosen|picked)\b/i,
  /\b(?:i|we)(?:'m| am|'re| are) (?:dropping|rejecting|ruling out|abandoning|discarding|choosing|picking|opting|keeping|sticking|leaving out|skipping)\b/i,
  /\b(?:my|the|a) (?:better |best |right |safer |simpler )?(?:choice|decision|approach|design)(?: here)?(?:: | (?:is|was|will be|i took|we take)\b)/i,
]
/** Those that name a reason or what was not taken. */
const REASONED = [
  /\b(?:i'd|we'd|i would|we would) rather\b.{3,160}\bthan\b/i,
  new RegExp(
    `\\b(?:i|we)${CHOOSES}(?! (?:not|with (?:the )?(?:failing|first)))\\b.{2,200}\\b(?:rather than|instead of|instead$|because|since|so that|over|and not|not the)\\b`,
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
  /^(?:(?:yes|ok|okay|good|fine|no|hmm|alright|right|great)[,.! ]+)*(?:go (?:with|for)|take|choose|pick|use|do|option|variant|plan) (?:option |variant |plan |the )?(?:[a-d1-4]|first|second|third|latter|former)\b/i,
  /\b(?:we|i)(?:'ll| will) (?:go|use|keep|stay|stick|take|drop|ship)\b/i,
]

const OTHERS: Record<Exclude<Language, 'en'>, RegExp> = {
  de: /(?<!\p{L})(?:habe? (?:ich )?(?:mich|uns) (?:\S+ ){0,8}entschieden|entschieden (?:mich|uns)|habe (?:\S+ ){1,12}(?:gewählt|statt|anstatt)|(?:nehme|verwende|nutze|behalte)n? (?:ich|wir)? ?(?:\S+ ){0,12}(?:statt|anstatt|anstelle|weil))(?!\p{L})/iu,
  es: /(?<!\p{L})(?:he(?:mos)? (?:preferido|decidido|optado|elegido)|decidí|opté|elegí|(?:uso|usaré|dejo|mantengo|prefiero) (?:\S+ ){0,12}(?:en lugar de|en vez de|porque))(?!\p{L})/iu,
  fr: /(?<!\p{L})(?:j['’]ai (?:choisi|décidé|opté|préféré|retenu)|nous avons (?:choisi|décidé|opté)|(?:j['’]utilise|je garde|je préfère|je prends) (?:\S+ ){0,12}(?:plutôt que|au lieu de|parce que|car))(?!\p{L})/iu,
  zh: /(?:我|我们)?(?:决定|选择了|选用|改用|最终采用|采用了?).{2,60}(?:而不是|而非|因为|代替)|(?:决定|选择)(?:不|用|采用|使用|把)/,
  ja: /(?:ことにし(?:ました|た|ます)|を選びました|を採用し|に決め(?:ました|た))|(?:の代わりに|ではなく).{1,40}(?:を使|にし|採用|選)/,
  ru: /(?<!\p{L})(?:я |мы )?(?:решил[аи]?|выбрал[аи]?|предпочёл|предпочел|предпочла)(?!\p{L})|(?<!\p{L})(?:использую|оставляю|сделал[аи]?|беру) (?:\S+ ){0,12}(?:вместо|потому что|так как)(?!\p{L})/iu,
}

/** Words one of which stands in every decision: most sentences hold none. */
const CHEAP =
  /decid|decis|choice|chose|choose|opted|settled|went|picked?|go(?:ing)? (?:with|for)|stick|rather|instead|because|since|so that|over|not|agree|recommend|suggest|propos|favou?r|keep|skip|leav|pick|reject|rul|drop|abandon|discard|conclusion|verdict|let.?s|let us|approach|design|take|option|variant|plan|will|.ll/i

/** Intentions of the next minute are no decisions. */
const NEXT_STEP =
  /^(?:(?:ok|okay|now|first|next|good|great|right|so|then|alright)[,.! ]+)*(?:let me|i'll (?:look|check|start|read|run|see|now|first|begin|try|have to|take a look|go through|have a look|search|find|open|verify|fix (?:that|this|it)|add a test)|i will (?:look|check|start|read|run|now|first)|let's (?:see|look|check|start|run|try|find))\b/i

function isDecision(sentence: string, signs: RegExp[]): boolean {
  if (signs.length > 1 && !CHEAP.test(sentence)) return false
  const plain = sentence.replace(/[’‘]/g, "'")
  if (NEXT_STEP.test(plain) && !/\b(?:because|rather than|instead of)\b/i.test(plain)) return false
  if (signs.some((one) => one.test(plain))) return true
  return signs === AGENT && REASON.test(plain) && REASONED.some((one) => one.test(plain))
}
