import { type Demand, englishDemand } from './constraint-english.js'
import { demandByForm, NO_RULES } from './constraint-table.js'
import type { Language } from './language.js'

interface DemandPatterns {
  forbids: RegExp[]
  requires: RegExp[]
}

/**
 * Returns whether a sentence requires or forbids something. Null when it does neither.
 * English is analysed closely, other languages by their usual forms.
 */
export function demandOf(sentence: string, question: boolean, language: Language): Demand | null {
  if (sentence.length < SHORTEST_INTRODUCTION && sentence.endsWith(':')) return null
  if (NO_RULES.some(({ pattern }) => pattern.test(sentence.replace(/[’‘]/g, "'")))) return null
  if (question) {
    const before = clausesBeforeQuestion(sentence)
    const own =
      language === 'en' ? (englishDemand(sentence, true) ?? englishDemand(lastClauseOf(sentence), true)) : null
    return own ?? (before === null ? null : demandOf(before, false, language))
  }
  if (language === 'en') {
    const words = sentence.replace(ASIDE, ' ')
    return englishDemand(words, question) ?? demandByForm(withoutEmphasis(words), 'en')
  }
  const words = OTHERS[language]
  if (words.forbids.some((one) => one.test(sentence))) return 'forbidden'
  if (words.requires.some((one) => one.test(sentence))) return 'required'
  const form = demandByForm(sentence, language)
  if (form !== null) return form
  // Prompts mix languages, so an English rule counts in any of them.
  return /[a-z]{3}/i.test(sentence) && /^[\x20-\x7e’“”]+$/.test(sentence) ? englishDemand(sentence, question) : null
}

/** Fewest characters of an introduction that states a rule without what follows it. */
const SHORTEST_INTRODUCTION = 25

/** A label in parentheses: "drop the text (manual mode only)". */
const ASIDE = /\((?:no [\w-]+|[^()]{1,40} only)\)/gi

/** Removes marks of emphasis around words: "it _needs_ to wait". */
const withoutEmphasis = (sentence: string): string =>
  /[*_]/.test(sentence) ? sentence.replace(/(?<![\w])[*_]{1,2}(?=\w)|(?<=\w)[*_]{1,2}(?!\w)/g, '') : sentence

/** Matches whole words in any script. */
const word = (source: string): RegExp => new RegExp(`(?<!\\p{L})(?:${source})(?!\\p{L})`, 'iu')
/** Matches an order, which begins at the start of a clause. */
const order = (source: string): RegExp =>
  new RegExp(
    '(?:^|[,;:–—(-]\\s*|(?<!\\p{L})(?:und|aber|bitte|also|y|pero|e|et|mais|por favor|merci ' +
      `de|donc|и|но|пожалуйста|surtout|además|auch|aussi|также)\\s+)(?:${source})(?!\\p{L})`,
    'iu',
  )

/** Fewest characters of a clause that states a rule. */
const SHORTEST_CLAUSE = 6
const CLAUSE_ENDS = [', ', '、', '，', '; ', ' - ', 'だが、', 'んだけど', 'ですけど', 'ですが']

/**
 * Returns what stands before the clause that asks. Null when the whole sentence is the question.
 */
export function clausesBeforeQuestion(sentence: string): string | null {
  const end = Math.max(...CLAUSE_ENDS.map((sign) => sentence.lastIndexOf(sign)))
  return end < SHORTEST_CLAUSE ? null : sentence.slice(0, end)
}

/** Returns the last clause, which asks. An earlier one may order: "push it, but can you …?" */
function lastClauseOf(question: string): string {
  const before = clausesBeforeQuestion(question)
  return before === null
    ? question
    : question.slice(before.length).replace(/^(?:[,;、，]|\s-)\s*(?:though|but|and|so)?\s*/i, '')
}

const OTHERS: Record<Exclude<Language, 'en'>, DemandPatterns> = {
  de: {
    forbids: [
      word('niemals|auf keinen fall|keinesfalls|verboten|untersagt|tabu|finger weg'),
      word(
        '(?:darf|dürfen|darfst|soll|sollen|sollst|sollte|sollten|muss nicht)(?: \\S+){0,8} (?:nicht|nie|kein\\p{L}*)',
      ),
      order('kein(?:e|en|er|es|em)? \\p{L}+'),
      order('nie \\p{L}+|nicht \\p{L}+'),
      word(
        'bitte(?: \\S+){0,6} (?:nicht|nichts|kein\\p{L}*|nie)|(?:push|committ?|änder|lösch|install|fass)\\p{L}* ' +
          '(?:\\S+ ){0,3}nichts',
      ),
      word('nicht \\p{Ll}+(?:en|ern|eln)(?=[.!,;]|$| und| oder)'),
      word('ohne (?:\\S+ ){0,4}zu \\p{Ll}+|ohne neue \\p{L}+'),
      word('nichts (?:geändert|gelöscht|gepusht|committet|hinzugefügt|installiert|entfernt|umbenannt)'),
      word('vermeide\\p{L}*|lass(?:t|e)? (?:\\S+ ){1,5}(?:in ruhe|unverändert|wie|unangetastet)|in ruhe lassen'),
      word(
        '(?:ändere|fasse?|benutze|verwende|committe|pushe|lösche|nimm|füge|mach|schreib|installiere|rühr)\\p{L}' +
          '*(?: \\S+){0,6} (?:nicht|nie|kein\\p{L}*)',
      ),
      word('(?:will|wollen|möchte|möchten)(?: \\S+){0,5} (?:kein\\p{L}*|nicht)'),
    ],
    requires: [
      word('muss|müssen|musst|unbedingt|zwingend|immer|ausschließlich|grundsätzlich|stets|pflicht|verpflichtend'),
      word('auf (?:englisch|deutsch|französisch)'),
      word('achte(?:t)? darauf|stell(?:e|t)? sicher|sicherstellen|denk daran'),
      order('(?:verwende|benutze|nutze|nimm|behalte|halte?|bleib|arbeite)\\p{L}*'),
      word('nur (?:noch |in |im |auf |mit |die |das |den |der |für )?\\p{L}+|höchstens|maximal|mindestens'),
      word('(?:soll|sollen|sollte|sollten)(?: \\S+){0,8} (?:bleiben|immer|nur|weiterhin)'),
    ],
  },
  es: {
    forbids: [
      order('no (?:me |lo |la |los |las |le |se |nos )?\\p{L}+(?:es|as|en|an|éis|áis)|no \\p{L}+(?:ar|er|ir)'),
      order('sin \\p{L}+|nada de \\p{L}+|ni \\p{L}+'),
      word('nunca|jamás|prohibid[oa]s?|en ningún caso|bajo ningún concepto|intocables?'),
      word(
        'no (?:se )?(?:debe\\p{L}*|puede\\p{L}*|podemos|hay que|tiene\\p{L}* que|quiero|queremos|tocar|' +
          'cambiar|romper)',
      ),
      word('sin (?:\\p{L}+(?:ar|er|ir)|nuev[oa]s|dependencias)'),
      word('evita\\p{L}*|deja\\p{L}* (?:\\S+ ){1,6}(?:como está\\p{L}*|en paz|tal cual|intact[oa]s?)'),
    ],
    requires: [
      word(
        'debe|deben|debes|debería\\p{L}*|tiene que|tienen que|tienes que|hay que|es ' +
          'obligatorio|obligatori[oa]s?|imprescindible',
      ),
      word(
        'siempre|solo|sólo|solamente|únicamente|exclusivamente|asegúrate|asegúrese|como máximo|como mínimo|a ' +
          'partir de ahora',
      ),
      order('(?:usa|utiliza|mantén|mantener|conserva|respeta|sigue|trabaja)'),
    ],
  },
  fr: {
    forbids: [
      order("(?:ne |n['’])(?:\\S+ ){1,3}?(?:pas|jamais|rien|plus|aucun\\p{L}*)|ne (?:pas|jamais|rien) \\p{L}+"),
      order("pas d[e'’]\\s?\\p{L}+|jamais \\p{L}+|aucun\\p{L}* \\p{L}+"),
      word(
        '(?:il ne faut|tu ne dois|vous ne devez|on ne doit|nous ne devons|ne doi\\p{L}*|ne peu\\p{L}*|je ne ' +
          'veux|nous ne voulons) (?:surtout )?(?:pas|jamais|plus|rien|aucun\\p{L}*)',
      ),
      word(
        'sans (?:\\p{L}+(?:er|ir|re)|nouvelle?s?|aucun\\p{L}*)|interdit\\p{L}*|évite\\p{L}*|hors de question|en ' +
          'aucun cas',
      ),
      word('laisse\\p{L}* (?:\\S+ ){1,6}(?:tel\\p{L}* quel\\p{L}*|comme|tranquille|intact\\p{L}*)'),
    ],
    requires: [
      word('doit|doivent|dois|devez|devons|il faut|faut que|obligatoire\\p{L}*|impératif|impérativement|indispensable'),
      word(
        'toujours|uniquement|seulement|exclusivement|assure-toi|assurez-vous|veille\\p{L}* à|au maximum|au ' +
          'moins|désormais|à partir de maintenant',
      ),
      order('(?:utilise|utilisez|garde|gardez|conserve|respecte|reste|travaille)'),
    ],
  },
  zh: {
    forbids: [
      /不要|别(?!的|人|处|名|称)|切勿|请勿|勿|严禁|禁止|不得|不准|不许|不可(?!能)|不允许|千万别|避免/,
      /不能(?:改|动|用|修改|删|引入|添加|破坏|超过|提交|影响|碰|使用|依赖|更改|增加|出现|直接|有)/,
      /不应该?|不该|保持[^，。]{0,40}不变/,
    ],
    requires: [
      new RegExp(
        '必须|务必|一定要|必需|只能|只用|只允许|只(?:改|修改|动|使用)|仅(?:限|使用|用|能|修改)|总是|始终|一律|保持|确保|请使用|要求|最多|至少|不超过|以后都|之前先|' +
          '先[^，。]{1,12}再|用(?:中文|英文|英语)',
      ),
    ],
  },
  ja: {
    forbids: [
      new RegExp(
        'ないで(?:ください|下さい|ほしい|欲しい|。|$|、)|てはいけ|ではいけ|てはなら|ちゃだめ|ちゃダメ|禁止|NG|厳禁|べきではな|べからず|ないこと|避けて|しないように|' +
          'ないように|触らない|変えない|使わない|増やさない|せずに|やめて',
      ),
    ],
    requires: [
      new RegExp(
        '(?<!も)必ず|絶対に|なければな|ないといけ|必要があ|必須|べき(?!では)|だけ(?:に|を|使)|だけで(?!良|よ|い|は|な)|のみ|限定|(?<![正通日平非])常に|' +
          'いつも|ようにして|すること(?:。|$)|守って|維持して|以内|' +
          '以下に|以上に|使ってください|に統一',
      ),
    ],
  },
  ko: { forbids: [], requires: [] },
  ru: {
    forbids: [
      new RegExp(
        String.raw`(?<!\p{L})(?:нельзя|никогда|ни в коем случае|запрещ\p{L}+|не надо|не нужно|не должн\p{L}+|` +
          String.raw`избегай\p{L}*|не стоит|не разреш\p{L}+|не трогать|не хочу)(?!\p{L})`,
        'iu',
      ),
      order('не \\p{L}+(?:й|йте|ь|ьте|и|ите|ть|ти)'),
      order('без \\p{L}+|никаких \\p{L}+'),
      new RegExp(
        String.raw`(?<!\p{L})без (?:нов\p{L}+|изменени\p{L}+|внешн\p{L}+|лишн\p{L}+|дополнительн\p{L}+)(?!\p{L})|` +
          String.raw`(?<!\p{L})оставь\p{L}* (?:\S+ ){1,5}как есть|не (?:трогай|меняй|ломай|удаляй|используй|` +
          String.raw`добавляй|коммить|пуш)\p{L}*`,
        'iu',
      ),
    ],
    requires: [
      new RegExp(
        String.raw`(?<!\p{L})(?:долж(?:ен|на|но|ны)|обязательно|обязан\p{L}*|всегда|только|строго|необходимо|` +
          'непременно|исключительно|убедись|убедитесь|следи|не более|не больше|не менее|не меньше|' +
          String.raw`максимум|минимум|впредь)(?!\p{L})`,
        'iu',
      ),
      order('(?:используй|сохрани|сохраняй|оставь|придерживайся|соблюдай)\\p{L}*'),
    ],
  },
}
