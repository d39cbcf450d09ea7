import type { RatedWord } from './rank-rows.js'

/** Length of the passage in which the words of a query are expected together. */
const PASSAGE = 900
/** Places of one word that count, so that a text that repeats a word costs no more than others. */
const MOST_PLACES = 60
/** Share of a word's rarity for each doubling of its places in the passage. */
const REPEATED = 0.15
/** Share of the rarity of words elsewhere in the text. */
const ELSEWHERE = 0.3
/** Bonus of a passage that contains what the question asks for, as a share of the rarest word. */
const ANSWERED = 0.8

/**
 * Shapes of answers (as a commit's hash) by the words that ask for them (as "commit").
 * A passage with such a shape answers more likely than one that repeats the question's words.
 */
const ANSWER_SHAPES: readonly { asks: RegExp; answer: RegExp }[] = [
  { asks: /\bcommit|コミット/i, answer: /\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b/ },
  {
    asks: /\b(?:pr|pull request|issue|ticket|review)\b|プルリク|チケット/i,
    answer: /#\d+|\/(?:pull|issues)\/\d+|\b[A-Z]{2,6}-\d+\b/,
  },
  {
    asks: /\b(?:file|path|document|script|guide)s?\b|ファイル|パス/i,
    answer: /[\w.-]+\/[\w.-]+|\b\w[\w-]*\.[a-z]\w{0,4}\b/,
  },
  { asks: /\bbranch\b|ブランチ/i, answer: /\bbranch\b|ブランチ|\b[a-z]+\/[\w-]{4,}/i },
  {
    asks: /\b(?:function|method|call|variable|constant|class|test|field|option|setting|name)\b|関数|変数|テスト/i,
    answer: /\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*|\b\w+_\w+\b/,
  },
  {
    asks: /\bhow (?:many|much|long|often|large)\b|\b(?:number|total|time|version|port|size|limit|count)\b|何件|いくつ/i,
    answer: /\d/,
  },
  {
    asks: /\b(?:why|cause|reason)\b|なぜ|理由|原因/i,
    answer: /\b(?:because|since|due to|cause[ds]?|reason|so that|therefore)\b|ので|ため|から|原因/i,
  },
]

/** Returns the shapes that an answer to the question may have. */
export function answerShapes(question: string): RegExp[] {
  return ANSWER_SHAPES.filter(({ asks }) => asks.test(question)).map(({ answer }) => answer)
}

export interface Passage {
  /** Position of the passage's first word in the text. 0 when no word was found as written. */
  at: number
  score: number
}

/**
 * Returns the passage of a text in which the rarest words stand together.
 * `folded` is the same text in lower case without accents, with the same positions.
 */
export function bestPassage(
  text: string,
  folded: string,
  words: readonly RatedWord[],
  shapes: readonly RegExp[],
): Passage {
  const places = words.flatMap((word, index) => placesOf(folded, word).map((at) => ({ at, index })))
  places.sort((a, b) => a.at - b.at)
  const counts = new Array<number>(words.length).fill(0)
  let best: Passage = { at: 0, score: 0 }
  let first = 0
  let sum = 0
  const worth = (index: number): number => {
    const { rarity } = words[index]!
    const count = counts[index]!
    return count === 0 ? 0 : rarity * (1 + REPEATED * Math.log2(count))
  }
  const change = (index: number, by: number): void => {
    sum -= worth(index)
    counts[index]! += by
    sum += worth(index)
  }
  for (const { at, index } of places) {
    change(index, 1)
    while (places[first]!.at < at - PASSAGE) change(places[first++]!.index, -1)
    if (sum > best.score + 1e-9) best = { at: places[first]!.at, score: sum }
  }
  if (best.score === 0) return best
  const passage = text.slice(Math.max(0, best.at - PASSAGE / 2), best.at + PASSAGE)
  const rarest = Math.max(...words.map(({ rarity }) => rarity))
  const all = new Set(places.map(({ index }) => index))
  const inText = [...all].reduce((total, index) => total + words[index]!.rarity, 0)
  const answered = shapes.length === 0 ? 0 : shapes.filter((shape) => shape.test(passage)).length / shapes.length
  return {
    at: best.at,
    score: best.score + ELSEWHERE * Math.max(0, inText - best.score) + ANSWERED * rarest * answered,
  }
}

const IS_WORD_SIGN = /[\p{L}\p{N}]/u
const IS_UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u

function placesOf(folded: string, { stem, prefix }: RatedWord): number[] {
  const places: number[] = []
  const unspaced = IS_UNSPACED.test(stem)
  for (let at = folded.indexOf(stem); at >= 0 && places.length < MOST_PLACES; at = folded.indexOf(stem, at + 1)) {
    const begins = at === 0 || !IS_WORD_SIGN.test(folded[at - 1]!)
    const ends = prefix || !IS_WORD_SIGN.test(folded[at + stem.length] ?? ' ')
    if (unspaced || (begins && ends)) places.push(at)
  }
  return places
}
