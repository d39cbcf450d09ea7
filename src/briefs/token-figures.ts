export interface TokenReading {
  used: number
  window: number | null
  point: number | null
}

interface Figure {
  /** Original text of the figure. */
  written: string
  /** Number of tokens, or a percentage. */
  value: number
  /** Value of the last written digit. */
  unit: number
  percent: boolean
  /** True when it states what is left, not what is used. */
  left: boolean
}

const MOST_FIGURES = 200
const TOLERANCE = 0.02
/**
 * Smaller token counts belong to the work (a limit, a bucket) unless the text is about the context.
 */
const MIN_CONTEXT_TOKENS = 5_000

const NUMBER = String.raw`(?:\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+|\d+(?:[.,]\d+)?)`
const SCALE = String.raw`(?:\s?(?:k|K|m|M|thousand|million|Tsd\.?|mil|mille))?`
const TOKEN = String.raw`(?:[Tt]okens?|TOKENS?|toks?|トークン|токен\p{L}*|토큰|令牌)`
const APPROXIMATELY = String.raw`(?:~|≈|about |around |roughly |etwa |ca\. )?`
const COUNT = new RegExp(
  String.raw`(?<![\p{sc=Latin}\p{sc=Cyrillic}\p{N}.,_/-])(${APPROXIMATELY})(${NUMBER})(${SCALE})` +
    String.raw`(?:(?:\s?(?:\/|of|out of|von|de)\s?)(${NUMBER})(${SCALE}))?[\s-]?(${TOKEN})(?![\p{L}_])`,
  'gu',
)
const NAMED_COUNT = new RegExp(
  String.raw`(?<![\p{L}_])[Tt]okens?(?: (?:used|left|remaining|so far|in use))?\s?[:=]\s?` +
    String.raw`(${APPROXIMATELY})(${NUMBER})(${SCALE})(?![\p{L}\p{N}%])`,
  'gu',
)
const PERCENT = /(?<![\p{sc=Latin}\p{sc=Cyrillic}\p{N}.,])(~|≈)?(\d{1,3}(?:[.,]\d+)?)\s?%/gu
/** Words that make a figure a statement about the context. */
const CONTEXT =
  /\bcontext\b|\bwindow\b|compact(?:ion|ed)|kontext|fenster|contexto|ventana|contexte|fenêtre|コンテキスト|上下文|контекст/iu
/** Words directly before or after a percentage: "context: 62 %", "62 % of the window". */
const CONTEXT_BEFORE = new RegExp(
  '(?:(?:context|kontext|contexto|contexte)(?: window| usage| use| budget|' +
    String.raw` fullness)?[\s:=(~≈]*(?:(?:is|was|at|now|about|currently|used|usage|around|bei|` +
    String.raw`stands?)[\s:=(~≈]*){0,3}|(?:コンテキスト|上下文|контекст).{0,10})$`,
  'iu',
)
const CONTEXT_BEHIND = new RegExp(
  String.raw`^\s*(?:\p{L}+ ){0,3}?(?:the |our |my |its |this )?(?:context|window(?! (?:width|height|size))|` +
    'compaction|kontext|contexto|contexte)|^.{0,8}(?:コンテキスト|上下文|контекст)',
  'iu',
)
/** Words for tokens of texts, models and limits, not of this session. */
const WORK_WORDS = new RegExp(
  String.raw`corpus|dataset|train|document|chunk|vocab|embedding|bucket|\bper (?:request|page|second|minute|` +
    'hour|call|user)|rate limit|max_tokens|throughput',
  'iu',
)
const LEFT_WORDS = /\bleft\b|remain|\bfree\b|until|before|übrig|restant|quedan|残|剩|осталось/iu

/**
 * Returns token counts and percentages that no reading and nothing said in the session supports.
 */
export function unsupportedFigures(text: string, readings: readonly TokenReading[], said: string): string[] {
  const known = new Set(figuresIn(said, true).map(({ value, percent }) => `${value}${percent ? '%' : ''}`))
  const once = new Map(
    figuresIn(text, false).map((figure) => [`${figure.written} ${figure.value} ${figure.left}`, figure]),
  )
  const wrong = [...once.values()].filter(
    (figure) =>
      !known.has(`${figure.value}${figure.percent ? '%' : ''}`) && !readings.some((one) => supports(one, figure)),
  )
  return [...new Set(wrong.map(({ written }) => written))]
}

/** Returns the figures in a text. `any` includes those not about the context. */
function figuresIn(text: string, any: boolean): Figure[] {
  const found: Figure[] = []
  for (const line of text.split('\n')) {
    if (found.length >= MOST_FIGURES) break
    if (!/\d/.test(line) || !/tok|%|トークン|токен|토큰|令牌/i.test(line) || line.length > 20_000) continue
    for (const clause of line.split(/(?<=[.;!?])\s+/)) {
      const about = any || CONTEXT.test(clause)
      const left = LEFT_WORDS.test(clause)
      const bare = !WORK_WORDS.test(clause)
      for (const match of clause.matchAll(COUNT)) {
        const [written, , first, scale, second, secondScale] = match
        const last = parseFigure(written.trim(), second ?? first!, secondScale ?? scale!, left)
        if (!about && (last.value < MIN_CONTEXT_TOKENS || !bare)) continue
        found.push(last)
        // In "125/200k tokens" the first figure may take the scale (k) of the second.
        if (second !== undefined)
          found.push(
            parseFigure(
              written.trim(),
              first!,
              scale === '' && !/\d{4}|[,. ]\d{3}/.test(first!) ? secondScale! : scale!,
              left,
            ),
          )
      }
      for (const [written, , number, scale] of clause.matchAll(NAMED_COUNT)) {
        const one = parseFigure(written.trim(), number!, scale!, left)
        if (about || (one.value >= MIN_CONTEXT_TOKENS && bare)) found.push(one)
      }
      if (!about) continue
      for (const match of clause.matchAll(PERCENT)) {
        const before = clause.slice(Math.max(0, match.index - 60), match.index)
        const behind = clause.slice(match.index + match[0].length, match.index + match[0].length + 60)
        if (!any && !CONTEXT_BEFORE.test(before) && !CONTEXT_BEHIND.test(behind)) continue
        const [whole, decimals = ''] = match[2]!.split(/[.,]/)
        const value = Number(`${whole}.${decimals || 0}`)
        found.push({ written: match[0].trim(), value, unit: 10 ** -decimals.length, percent: true, left })
      }
    }
  }
  return found
}

function parseFigure(written: string, number: string, scale: string, left: boolean): Figure {
  const times = /^(k|thousand|tsd\.?|mil|mille)$/i.test(scale.trim()) ? 1_000 : scale.trim() === '' ? 1 : 1_000_000
  const grouped = /^\d{1,3}([,.'’\u00a0\u202f ]\d{3})+$/.test(number) && times === 1
  const plain = grouped ? number.replace(/\D/g, '') : number.replace(',', '.')
  const decimals = grouped ? 0 : (plain.split('.')[1]?.length ?? 0)
  // In "about 120,000", trailing zeros are not exact.
  const zeros = decimals === 0 && times === 1 ? (/0*$/.exec(plain)?.[0].length ?? 0) : 0
  const unit = (times / 10 ** decimals) * 10 ** Math.min(zeros, 3)
  return { written, value: Math.round(Number(plain) * times), unit, percent: false, left }
}

function supports({ used, window, point }: TokenReading, one: Figure): boolean {
  const wholes = [window, point].filter((whole): whole is number => whole !== null && whole > 0)
  const figures = one.percent
    ? wholes.flatMap((whole) => [(used / whole) * 100, ...(one.left ? [100 - (used / whole) * 100] : [])])
    : [used, ...wholes, ...(one.left ? wholes.map((whole) => whole - used) : [])]
  return figures.some(
    (value) =>
      Math.abs(value - one.value) <=
      Math.max(Math.abs(value) * TOLERANCE, one.unit === 1 && !one.percent ? 0 : one.unit * 0.999),
  )
}
