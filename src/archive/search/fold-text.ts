const BEYOND_LATIN = /[^\u0000-\u02ff]/
/** Written without spaces between words, or with endings grown onto them: each sign is a word of its own, and a word is a phrase of signs. */
const SIGNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** A text as the index takes it; a query goes through the same. */
export function foldText(written: string): string {
  // SQLite takes it for the end of the text.
  const text = written.replaceAll('\0', ' ')
  if (!BEYOND_LATIN.test(text)) return text
  return text.normalize('NFC').replace(SIGNS, ' $& ')
}
