export interface Filling {
  title: string
  /** Most needed first; each a whole paragraph or a list's line. */
  items: readonly string[]
  /** How much of the whole it may take before all others had their turn. */
  share: number
  /** Said when there is nothing. */
  none: string
}

/** The line that counts what was left out, and what stands around a section. */
const AROUND = 40

/** Sections within `longest` characters: of each something before any has all. Items are never cut; those left out are counted. */
export function fillSections(fillings: readonly Filling[], byNeed: readonly number[], longest: number): string {
  const sections = fillings.map((filling) => ({ filling, chosen: new Set<string>(), length: 0 }))
  let room = longest - fillings.reduce((sum, { title, none }) => sum + title.length + none.length + AROUND, 0)
  for (const sharing of [true, false]) {
    for (const index of byNeed) {
      const one = sections[index]!
      for (const item of one.filling.items) {
        const cost = item.length + 2
        if (one.chosen.has(item) || cost > room || (sharing && one.length + cost > longest * one.filling.share)) continue
        one.chosen.add(item)
        one.length += cost
        room -= cost
      }
    }
  }
  return sections.map(({ filling, chosen }) => `## ${filling.title}\n\n${said(filling, chosen)}\n`).join('\n')
}

function said({ items, none }: Filling, chosen: ReadonlySet<string>): string {
  const all = [...new Set(items)]
  if (all.length === 0) return none
  const left = all.length - chosen.size
  const kept = all.filter((item) => chosen.has(item))
  const lines = [...kept, ...(left > 0 ? [`- and ${left} more, left out here`] : [])]
  return lines.map((line, i) => (i > 0 && !(isPoint(line) && isPoint(lines[i - 1]!)) ? `\n${line}` : line)).join('\n')
}

const isPoint = (line: string): boolean => line.startsWith('- ')
