import type { Fact } from '../contract/fact.js'
import { keyOf } from './loss.js'

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
  quoted?: boolean
}

const SECTIONS: readonly Section[] = [
  { title: "The user's last request, word for word", takes: (f) => f.kind === 'request', most: 1, longest: 2_500, quoted: true },
  { title: 'What the user requires and forbids', takes: (f) => f.kind === 'constraint', most: 25, longest: 400 },
  { title: 'Open todos', takes: (f) => f.kind === 'todo' && f.state === 'open', most: 20, longest: 200 },
  { title: 'Open questions', takes: (f) => f.kind === 'question' && f.state === 'open', most: 8, longest: 300 },
  { title: 'Tests that fail', takes: (f) => f.kind === 'test' && f.state === 'failed', most: 12, longest: 200 },
  { title: 'Files changed', takes: (f) => f.kind === 'file' && f.state === 'changed', most: 40, longest: 200 },
  { title: 'Decisions', takes: (f) => f.kind === 'decision', most: 10, longest: 300 },
  { title: 'Errors not overcome', takes: (f) => f.kind === 'error' && f.detail.overcome !== true, most: 6, longest: 300 },
  { title: 'Branch and commits', takes: (f) => f.kind === 'branch' || f.kind === 'commit', most: 10, longest: 150 },
  {
    title: 'Commands that failed or still run',
    takes: (f) => f.kind === 'command' && (f.state === 'failed' || f.state === 'running'),
    most: 8,
    longest: 200,
  },
  { title: 'Earlier requests', takes: (f) => f.kind === 'request', most: 6, longest: 300, quoted: true },
]

/**
 * A brief made by code from ranked facts: what further work needs first, so that cutting it short costs the least. '' when the facts
 * hold nothing worth saying.
 */
export function writeBrief(facts: readonly Fact[], longest: number): Written {
  const keys: string[] = []
  const named = new Set<string>()
  let text = ''
  for (const section of SECTIONS) {
    const lines: string[] = []
    for (const fact of facts) {
      if (lines.length === section.most) break
      if (!section.takes(fact) || named.has(keyOf(fact))) continue
      const line = lineOf(fact, section)
      const length = text.length + section.title.length + 8 + lines.reduce((sum, one) => sum + one.length + 1, 0)
      if (length + line.length > longest) break
      lines.push(line)
      named.add(keyOf(fact))
      keys.push(keyOf(fact))
    }
    if (lines.length > 0) text += `${text === '' ? '' : '\n'}## ${section.title}\n${lines.join('\n')}\n`
  }
  return { text, keys }
}

function lineOf(fact: Fact, { longest, quoted }: Section): string {
  const text = shorten(fact.text, longest)
  if (quoted) return text.replace(/^/gm, '> ')
  return `- ${text.replace(/\s*\n\s*/g, ' ')}${addition(fact)}`
}

function addition(fact: Fact): string {
  const { detail } = fact
  if (fact.kind === 'constraint') return fact.state === 'forbidden' ? ' (forbidden)' : ''
  if (fact.kind === 'commit' && typeof detail.id === 'string') return ` (${detail.id.slice(0, 9)})`
  if (fact.kind === 'branch') return ' (branch)'
  if (fact.kind === 'command') return typeof detail.exit === 'number' ? ` (exit ${detail.exit})` : ` (${fact.state})`
  return ''
}

export function shorten(text: string, longest: number): string {
  const trimmed = text.trim()
  return trimmed.length <= longest ? trimmed : `${trimmed.slice(0, longest - 1).trimEnd()}…`
}
