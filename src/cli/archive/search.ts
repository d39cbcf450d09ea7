import { parseQuery } from '../../archive/search/parse-query.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { wrong } from '../parse-call.js'
import { hitLines } from '../render/hit-lines.js'
import { wrap } from '../render/wrap.js'
import { among } from './among.js'
import { inArchives } from './open-archives.js'
import { parseLimit } from './parse-limits.js'

export async function search(call: Call, cli: Cli): Promise<number> {
  const query = call.words.slice(1).join(' ')
  const limit = parseLimit(call.value('limit'), 20)
  refuseEmpty(query)
  return inArchives(call, cli, ({ house, archives }) => {
    const wanted = among(call, cli, house)
    const lost = new Set<string>()
    const unreadable = (id: string): void => void lost.add(id)
    const hits = archives.search({ query, limit, unreadable, ...(wanted ? { among: wanted } : {}) })
    if (call.json) cli.print(JSON.stringify({ hits, unreadable: [...lost] }))
    else if (hits.length === 0 && lost.size === 0) cli.print(nothing(house.store.archives().length, cli.screen.columns))
    else if (hits.length > 0) cli.print(hits.flatMap((hit) => hitLines(hit, query, cli)).join('\n'))
    tellUnreadable(lost, cli)
    if (hits.length === limit) cli.note(`The best ${limit}; --limit N shows more.`)
    return hits.length === 0 && lost.size > 0 ? EXIT.failed : EXIT.done
  })
}

/** Something was found, but the file it stands in is gone or damaged. */
export function tellUnreadable(archives: ReadonlySet<string>, cli: Cli): void {
  if (archives.size === 0) return
  const names = [...archives].join(', ')
  cli.note(`What matches in ${names} cannot be shown: files are gone or damaged. baton archive verify tells more.`)
}

export function refuseEmpty(query: string): void {
  if (parseQuery(query).length === 0)
    throw wrong(
      { name: 'archive' },
      `There is no word to look for in "${query}".`,
      'Give words, a "phrase", or the beginning of a word with a star.',
    )
}

export function nothing(archives: number, columns: number): string {
  const text =
    archives === 0
      ? 'Nothing found: there are no archives yet.'
      : 'Nothing found. All words must stand in the same prompt, answer, command or result; fewer words find more.'
  return wrap(text, columns, 0).join('\n')
}
