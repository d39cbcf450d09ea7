import { parseQuery } from '../../archive/search/parse-query.js'
import type { Hit } from '../../contract/archive.js'
import type { Cli } from '../command.js'
import { projectName } from './paths.js'
import type { Paint } from './screen.js'
import { stamp } from './times.js'
import { cut, harmless } from './width.js'
import { wrap } from './wrap.js'

type On = Pick<Cli, 'screen' | 'env'>

/** Where it stands, and the words around the match below it. */
export function hitLines(hit: Hit, query: string, { screen, env }: On): string[] {
  const width = Math.min(screen.columns, 160) - 2
  const text = wrap(harmless(hit.snippet), width, 0)
  return [head(hit, { screen, env }), ...text.map((line) => `  ${marked(line, query, screen.paint)}`)]
}

/** The same with everything that was said. */
export function wholeHit(hit: Hit, query: string, { screen, env }: On): string[] {
  const lines = hit.text.split('\n').flatMap((line) => wrap(harmless(line), Math.min(screen.columns, 160) - 2, 0))
  return [head(hit, { screen, env }), ...lines.map((line) => `  ${marked(line, query, screen.paint)}`.trimEnd())]
}

function head(hit: Hit, { screen, env }: On): string {
  const { paint, columns } = screen
  const place = `${hit.archive_id}:${hit.line}${hit.subagent === null ? '' : ` in ${harmless(hit.subagent)}`}`
  const about = [
    hit.kind,
    harmless(hit.session_id.slice(0, 8)),
    projectName(hit.project, env.HOME),
    ...(hit.at === null ? [] : [stamp(hit.at)]),
  ]
  return cut(`${paint(place, 'cyan')}  ${paint(about.join('  '), 'dim')}`, columns)
}

/** The words that were looked for, where they stand as they were typed. */
function marked(line: string, query: string, paint: Paint): string {
  const words = parseQuery(query).flatMap((term) => [term.words, ...(term.words.match(/[\p{L}\p{N}]+/gu) ?? [])])
  if (words.length === 0) return line
  const longest = [...new Set(words)]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return line.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longest.join('|')})`, 'giu'), (found) => paint(found, 'bold'))
}
