import { BY_NEED, LATE_TITLE } from './sections.js'
import { type Part, splitBrief } from './split-brief.js'

/** The parts of a brief that are needed most, at most `longest` characters; what is left out stands in its file. */
export function essentialsOf(body: string, longest: number): string {
  const parts = splitBrief(body.trim()).filter(({ heading }) => heading !== '')
  const chosen = chooseParts(parts, longest)
  return parts.flatMap((part) => chosen.get(part) ?? []).join('\n\n')
}

/** Whole parts by need; the first of those that do not fit is cut, so that the room is used. */
export function chooseParts(parts: readonly Part[], room: number): Map<Part, string> {
  const rank = ({ name, added, heading }: Part): number =>
    added || heading === LATE_TITLE ? 2.5 : name === null ? BY_NEED.length : BY_NEED.indexOf(name)
  const chosen = new Map<Part, string>()
  for (const part of [...parts].sort((a, b) => rank(a) - rank(b))) {
    if (part.text.length + 2 <= room) chosen.set(part, part.text)
    else if (room > 400) chosen.set(part, `${part.text.slice(0, room - 40).trimEnd()}\n(cut here)`)
    else continue
    room -= chosen.get(part)!.length + 2
  }
  return chosen
}
