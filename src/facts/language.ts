export type Language = 'en' | 'de' | 'es' | 'fr' | 'zh' | 'ja' | 'ko' | 'ru'

const COMMON: [Language, RegExp][] = [
  [
    'de',
    new RegExp(
      String.raw`(?<!\p{L})(?:der|die|das|und|nicht|ist|ein|eine|mit|für|auf|bitte|wir|kein|keine|muss|soll|auch|` +
        String.raw`noch|den|dem|nur|wenn|aber|sich|bei|wird|im|am|zu|alle|nichts|immer|von)(?!\p{L})`,
      'giu',
    ),
  ],
  [
    'es',
    new RegExp(
      String.raw`(?<!\p{L})(?:el|la|los|las|que|por|para|con|una|del|está|pero|como|hay|favor|sin|más|debe|` +
        String.raw`también|cuando|esto|nada|en|al|todo|nunca|solo|sólo)(?!\p{L})`,
      'giu',
    ),
  ],
  [
    'fr',
    new RegExp(
      String.raw`(?<!\p{L})(?:le|la|les|des|une|est|pas|que|pour|dans|avec|sur|faut|nous|vous|ne|sans|aussi|mais|` +
        String.raw`du|il|plaît|doit|être|aucun|aucune|uniquement|toujours|jamais|tout)(?!\p{L})`,
      'giu',
    ),
  ],
  [
    'en',
    /(?<!\p{L})(?:the|and|to|of|is|it|in|that|for|with|not|this|we|you|please|be|on|are|should|but|do)(?!\p{L})/giu,
  ],
]

/** Letters and forms that only one of these languages has. */
const LETTERS: Partial<Record<Language, RegExp>> = {
  de: /[äöüß]/gi,
  es: /[ñ¿¡áíó]/gi,
  fr: /[èêçàùœëîô]|(?<!\p{L})[ndlcjs]['’]\p{L}/giu,
}
const NONE = /(?!)/g

const PLAINLY_ENGLISH = /\b(?:the|and|is|this|it|you|please|to)\b/i

/**
 * Returns the language of a text, by its letters or most common words.
 * Short texts without any of them count as English.
 */
export function languageOf(text: string): Language {
  if (PLAINLY_ENGLISH.test(text) && !/[^\x20-\x7e\s’‘“”–—…→]/.test(text)) return 'en'
  if (/[\u3040-\u30ff]/.test(text)) return 'ja'
  if (/[\uac00-\ud7af]/.test(text)) return 'ko'
  if (/[\u4e00-\u9fff]/.test(text)) return 'zh'
  if ((text.match(/[\u0400-\u04ff]/g)?.length ?? 0) > 3) return 'ru'
  let best: Language = 'en'
  let most = 0
  for (const [language, words] of COMMON) {
    const count = (text.match(words)?.length ?? 0) + (text.match(LETTERS[language] ?? NONE)?.length ?? 0)
    if (count > most || (count === most && language === 'en')) {
      most = count
      best = language
    }
  }
  return best
}
