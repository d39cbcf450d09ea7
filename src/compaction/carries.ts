import type { Fact } from '../contract/fact.js'
import { makeMentions } from './mentions.js'
import { denies, isFirm, isUnspaced, meaningOf, plain } from './words.js'

/** How much of a sentence's meaning must stand close together to count as said. */
const ENOUGH = 0.65
/** How much of a text of many sentences must have been said. */
const MOST = 0.8
/** Sentences that count as close together. A thought of a few words has its place in one. */
const NEAR = 3
const FEW_WORDS = 3

/** A text prepared for many questions. */
export interface Carrier {
  carries(fact: Fact): boolean
}

/**
 * Whether a text says what a fact says. Names (files, commits, branches, commands, tests) must stand there; what was said in sentences
 * must stand there word for word or with most of its meaning within a few sentences, its figures and names unchanged, and what was
 * denied or forbidden as something denied. Errs towards "not carried": what is put back twice costs a line, what is lost costs the work.
 *
 * `among`: the facts that could be confused with each other; one of two files of the same name is not meant by that name alone.
 */
export function makeCarrier(text: string, among: readonly Fact[] = []): Carrier {
  const whole = plain(text)
  const runs = new Set(whole.match(/[\p{L}\p{N}]+/gu))
  const says = (part: string): boolean => part !== '' && mayHold(runs, part) && named(whole, part)
  const mentions = makeMentions(whole, among)
  const means = makeMeaning(text)
  return {
    carries(fact) {
      const words = plain(fact.text)
      switch (fact.kind) {
        case 'file':
          return mentions.file(fact.text) || says(words)
        case 'commit':
          return says(plain(String(fact.detail.id ?? '').slice(0, 7))) || says(words) || means(fact.text)
        case 'branch':
          return says(words)
        case 'command': {
          const core = coreOf(fact.text)
          return says(words) || says(plain(core)) || (meaningOf(core).size > FEW_WORDS && means(core, true))
        }
        case 'request':
          return says(words) || means(fact.text)
        default:
          return says(words) || means(fact.text, true)
      }
    },
  }
}

/** `strict`: figures and names must be the same ones, and what was denied must be denied. */
function makeMeaning(text: string): (part: string, strict?: boolean) => boolean {
  const sentences = sentencesOf(text)
  const meanings = sentences.map(meaningOf)
  const places = new Map<string, number[]>()
  for (const [i, words] of meanings.entries()) {
    for (const word of words) {
      const known = places.get(word)
      if (known) known.push(i)
      else places.set(word, [i])
    }
  }
  const count = (word: string): number => places.get(word)?.length ?? 0

  const saidNear = (part: string, words: ReadonlySet<string>, strict: boolean): boolean => {
    const near = words.size <= FEW_WORDS ? 1 : NEAR
    const needed = words.size < FEW_WORDS ? words.size : Math.ceil(words.size * ENOUGH)
    const firm = strict ? [...words].filter(isFirm) : []
    const denied = strict && denies(part)
    const holds = (start: number): boolean => {
      const here = meanings.slice(start, start + near)
      const has = (word: string): boolean => here.some((sentence) => sentence.has(word))
      if ([...words].filter(has).length < needed || !firm.every(has)) return false
      return !denied || denies(sentences.slice(start, start + near).join(' '))
    }
    // Where none of the rarest stands, too few of all can.
    const rarest = [...words].sort((a, b) => count(a) - count(b)).slice(0, words.size - needed + 1)
    const starts = new Set(rarest.flatMap((word) => places.get(word) ?? []).flatMap((at) => startsOf(at, near)))
    return [...starts].some(holds)
  }
  return (part, strict = false) => {
    const parts = sentencesOf(part).map((sentence) => ({ sentence, words: meaningOf(sentence) }))
    const all = parts.reduce((sum, { words }) => sum + words.size, 0)
    if (all < 2) return false
    const said = parts.filter(({ sentence, words }) => words.size > 0 && saidNear(sentence, words, strict))
    const enough = said.reduce((sum, { words }) => sum + words.size, 0) >= all * MOST
    return enough || saidNear(part, meaningOf(part), strict)
  }
}

const startsOf = (at: number, near: number): number[] =>
  Array.from({ length: near }, (_, back) => at - back).filter((start) => start >= 0)

const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?;])\s+|(?<=[。！？；])|\n+/).filter((one) => one.trim() !== '')

/** Cheap and never wrong: what is named somewhere has each of its words there. */
function mayHold(runs: ReadonlySet<string>, part: string): boolean {
  return isUnspaced(part) || (part.match(/[\p{L}\p{N}]+/gu) ?? []).every((run) => runs.has(run))
}

/** As a word of its own: `app.ts` is not named by `web-app.tsx`. */
function named(whole: string, part: string): boolean {
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    const before = whole[at - 1] ?? ' '
    const after = whole[at + part.length] ?? ' '
    if (isUnspaced(part) || !(/[\p{L}\p{N}_-]/u.test(before) || /[\p{L}\p{N}_-]/u.test(after))) return true
  }
  return false
}

/** What is run, without where, and without what only shortens its output; of a command with a text inside, its first line. */
function coreOf(command: string): string {
  const core = command
    .trim()
    .replace(/^(cd\s+\S+\s*(&&|;)\s*)+/, '')
    .replace(/\n[\s\S]*$/, '')
    .replace(/(\s*\|\s*(head|tail|less|cat|tee)\b[^|]*|\s*\d?>&?\s*(\d|\/dev\/null))+$/, '')
  return core.length < 4 ? '' : core
}
