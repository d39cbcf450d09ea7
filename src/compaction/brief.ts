import type { Fact } from '../contract/fact.js'
import { keyOf } from '../facts/key-of.js'

export interface Written {
  text: string
  /** The facts it names. */
  keys: string[]
}

interface Section {
  title: string
  takes(fact: Fact): boolean
  /** How many at most; the newest or most needed are named. */
  most: number
  /** Longest one. */
  longest: number
  /** How much of the brief it may fill before all others had their turn. */
  share: number
  quoted?: boolean
}

const SECTIONS: readonly Section[] = [
  { title: "The user's last request, word for word", takes: isLastRequest, most: 1, longest: 2_500, share: 0.4, quoted: true },
  { title: 'What the user requires and forbids', takes: (f) => f.kind === 'constraint', most: 25, longest: 400, share: 0.35 },
  { title: 'Open todos', takes: (f) => f.kind === 'todo' && f.state === 'open', most: 20, longest: 200, share: 0.2 },
  { title: 'Open questions', takes: (f) => f.kind === 'question' && f.state === 'open', most: 8, longest: 300, share: 0.15 },
  { title: 'Tests that fail', takes: (f) => f.kind === 'test' && f.state === 'failed', most: 12, longest: 200, share: 0.15 },
  { title: 'Files changed', takes: (f) => f.kind === 'file' && f.state === 'changed', most: 40, longest: 200, share: 0.2 },
  { title: 'Decisions', takes: (f) => f.kind === 'decision', most: 10, longest: 300, share: 0.15 },
  {
    title: 'Errors not overcome',
    takes: (f) => f.kind === 'error' && f.detail.overcome !== true,
    most: 6,
    longest: 300,
    share: 0.1,
  },
  { title: 'Branch and commits', takes: (f) => f.kind === 'branch' || f.kind === 'commit', most: 10, longest: 150, share: 0.1 },
  { title: 'Commands that failed or still run', takes: isUnfinishedCommand, most: 8, longest: 200, share: 0.1 },
  {
    title: 'Earlier requests',
    takes: (f) => f.kind === 'request' && !isLastRequest(f),
    ...{ most: 6, longest: 300, share: 0.15, quoted: true },
  },
]

function isLastRequest({ kind, detail }: Fact): boolean {
  return kind === 'request' && detail.last === true
}

function isUnfinishedCommand({ kind, state }: Fact): boolean {
  return kind === 'command' && (state === 'failed' || state === 'running')
}

/** Title, marks and the line that counts what was left out. */
const AROUND = 60
/** What a cut says. */
const CUT = 90

/**
 * A brief made by code from ranked facts, at most `longest` characters: what further work needs first, so that cutting it short costs
 * the least, and of every section something before any has all. '' when the facts hold nothing worth saying.
 */
export function writeBrief(facts: readonly Fact[], longest: number): Written {
  const sections = SECTIONS.map((section) => ({
    section,
    all: facts.filter(section.takes),
    said: new Map<string, string>(),
    length: 0,
  }))
  let length = 0
  for (const sharing of [true, false]) {
    for (const one of sections) {
      for (const fact of one.all) {
        const key = keyOf(fact)
        if (one.said.size === one.section.most) break
        if (one.said.has(key)) continue
        const line = lineOf(fact, one.section, longest)
        const cost = line.length + 1 + (one.said.size === 0 ? one.section.title.length + AROUND : 0)
        if (length + cost > longest || (sharing && one.length + cost > longest * one.section.share)) continue
        one.said.set(key, line)
        one.length += cost
        length += cost
      }
    }
  }
  const told = sections.filter(({ said }) => said.size > 0)
  return {
    text: told.map(({ section, all, said }) => `## ${section.title}\n${linesOf(section, all, said).join('\n')}\n`).join('\n'),
    keys: told.flatMap(({ said }) => [...said.keys()]),
  }
}

/** In the order the facts were given, whichever turn they were taken in. */
function linesOf({ quoted }: Section, all: readonly Fact[], said: ReadonlyMap<string, string>): string[] {
  const keys = [...new Set(all.map(keyOf))]
  const lines = keys.flatMap((key) => said.get(key) ?? [])
  const more = keys.length - lines.length
  const apart = quoted ? lines.flatMap((line) => [line, '']) : lines
  return more === 0 ? (quoted ? apart.slice(0, -1) : apart) : [...apart, `- and ${more} more`]
}

function lineOf(fact: Fact, { title, longest, share, quoted }: Section, whole: number): string {
  if (quoted) {
    const room = whole * share - title.length - AROUND - CUT
    return wholeOrCut(fact.text.trim(), Math.max(CUT, Math.min(longest, Math.floor(room)))).replace(/^/gm, '> ')
  }
  const text = shorten(fact.text, longest)
  return `- ${text.replace(/\s*\n\s*/g, ' ')}${addition(fact)}`
}

function addition(fact: Fact): string {
  const { detail } = fact
  if (fact.kind === 'constraint') return fact.state === 'forbidden' ? ' (forbidden)' : ''
  if (fact.kind === 'commit' && typeof detail.id === 'string') return ` (${detail.id.slice(0, 9)})`
  if (fact.kind === 'branch') return ' (branch)'
  if (fact.kind === 'command') return typeof detail.exitCode === 'number' ? ` (exit ${detail.exitCode})` : ` (${fact.state})`
  return ''
}

/** Words that are quoted say where they were cut. */
function wholeOrCut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = text
    .slice(0, longest)
    .replace(/(?<=\s)\S{0,40}$/, '')
    .trimEnd()
  return `${kept}…\n(cut here; ${text.length - kept.length} more characters)`
}

export function shorten(text: string, longest: number): string {
  const trimmed = text.trim()
  return trimmed.length <= longest ? trimmed : `${trimmed.slice(0, longest - 1).trimEnd()}…`
}
