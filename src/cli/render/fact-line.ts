import type { Fact } from '../../contract/fact.js'
import type { CompactionRecord } from '../../contract/loss.js'
import { namedBy } from '../../facts/key-of.js'
import type { Paint } from './screen.js'
import { cut, harmless, padEnd } from './width.js'
import { wrap } from './wrap.js'

/** What is shown of a fact. */
export type Shown = Pick<Fact, 'kind' | 'text' | 'state'>

const KIND_WIDTH = 10
const PUT_BACK = ' ↩'

/** `constraint  Never touch the migrations ↩`, in one line. */
export function factLine(fact: Shown, back: boolean, columns: number, paint: Paint): string {
  const room = columns - KIND_WIDTH - 2 - (back ? PUT_BACK.length : 0)
  const text = cut(harmless(fact.text.replace(/\s+/g, ' ')), room)
  return `${paint(padEnd(fact.kind, KIND_WIDTH), 'dim')}  ${text}${back ? paint(PUT_BACK, 'green') : ''}`
}

/** The same with all its words, below each other. */
export function factLines(fact: Shown, back: boolean, columns: number, paint: Paint): string[] {
  const indent = KIND_WIDTH + 2
  const lines = fact.text.split('\n').flatMap((line) => wrap(harmless(line.trimEnd()), Math.min(columns, 160) - indent, 0))
  return lines.map((line, i) => {
    const head = i === 0 ? paint(padEnd(fact.kind, indent), 'dim') : ' '.repeat(indent)
    return `${head}${line}${back && i === lines.length - 1 ? paint(PUT_BACK, 'green') : ''}`.trimEnd()
  })
}

/** Whether one of the two steps of recovery told a fact. */
export function putBack({ first, second }: Pick<CompactionRecord, 'first' | 'second'>): (fact: Shown) => boolean {
  return namedBy([...(first?.keys ?? []), ...(second?.keys ?? [])])
}
