import type { Fact } from '../contract/fact.js'
import { meaningOf, plain } from './words.js'

/** How much of a sentence's meaning must stand close together to count as said. */
const ENOUGH = 0.65
/** Sentences that count as close together. */
const NEAR = 3

/** A text prepared for many questions. */
export interface Carrier {
  carries(fact: Fact): boolean
}

/**
 * Whether a text says what a fact says. Names (files, commits, branches, commands, tests) must stand there; what was said in sentences
 * must stand there word for word or with most of its meaning within a few sentences. Errs towards "not carried": what is put back twice
 * costs a line, what is lost costs the work.
 */
export function makeCarrier(text: string): Carrier {
  const whole = plain(text)
  const sentences = text.split(/(?<=[.!?。！？;:])\s+|\n+/).map(meaningOf)
  const windows = sentences.map((_, i) => new Set(sentences.slice(i, i + NEAR).flatMap((words) => [...words])))
  const says = (part: string): boolean => part.length > 0 && named(whole, plain(part))
  const means = (part: string): boolean => {
    const words = meaningOf(part)
    if (words.size < 2) return says(part)
    const needed = Math.ceil(words.size * ENOUGH)
    return windows.some((window) => [...words].filter((word) => window.has(word)).length >= needed)
  }
  return {
    carries(fact) {
      switch (fact.kind) {
        case 'file':
          return says(fact.text) || says(fact.text.split('/').slice(-2).join('/')) || says(ownName(fact.text))
        case 'commit':
          return says(String(fact.detail.id ?? '').slice(0, 7)) || says(fact.text) || means(fact.text)
        case 'branch':
          return says(fact.text)
        case 'command':
          return says(fact.text) || says(withoutPlace(fact.text))
        default:
          return says(fact.text) || means(fact.text)
      }
    },
  }
}

/** As a word of its own: `app.ts` is not named by `web-app.tsx`. */
function named(whole: string, part: string): boolean {
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    const before = whole[at - 1] ?? ' '
    const after = whole[at + part.length] ?? ' '
    if (!/[\p{L}\p{N}_-]/u.test(before) && !/[\p{L}\p{N}_-]/u.test(after)) return true
    if (/\p{sc=Han}/u.test(part)) return true
  }
  return false
}

/** A file's own name says which one is meant unless half the world has one. */
function ownName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return /^(index|main|mod|lib|readme|package|__init__|types|utils?|test|config)\b/i.test(name) || name.length < 5 ? '' : name
}

function withoutPlace(command: string): string {
  const rest = command.replace(/^cd\s+\S+\s*(&&|;)\s*/, '')
  return rest.length < 4 ? '' : rest
}
