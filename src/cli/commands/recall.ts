import { sessionsNamed } from '../../archive/choose-archives.js'
import type { SearchRequest } from '../../archive/search/search-archives.js'
import type { Hit } from '../../contract/archive.js'
import { EXIT } from '../../lib/errors.js'
import { inArchives, type Opened } from '../archive/open-archives.js'
import { parseLimit } from '../archive/parse-limits.js'
import { nothing, refuseEmpty, tellUnreadable } from '../archive/search.js'
import type { Call, Cli, Command } from '../command.js'
import { wrong } from '../parse-call.js'
import { recallLost } from '../recall-lost.js'
import { wholeHit } from '../render/hit-lines.js'

export const command: Command = {
  name: 'recall',
  summary: 'fetch what was said or done before a compaction',
  usage: ['<query> [--session ID] [--limit N]', '--lost [query] [--session ID] [--before-last N]'],
  about:
    'Finds prompts, answers, commands and results in the archives and prints them whole. Run by an agent (CLAUDE_CODE_SESSION_ID is set), it looks ' +
    'in the sessions of its own seat first, and everywhere only if nothing is found there. All words must stand in the same place; "a phrase" ' +
    'stands together, and a star ends the beginning of a word.\n' +
    'With --lost: the facts that the summary of the last compaction does not carry, most needed first; words leave those that have them all.',
  options: {
    lost: { type: 'boolean', about: 'what the last compaction dropped' },
    'before-last': { type: 'string', value: 'N', about: '--lost: the Nth compaction before the last one' },
    session: { type: 'string', value: 'ID', about: 'only this session, or all of a seat' },
    limit: { type: 'string', value: 'N', about: 'so many (5; with --lost all)' },
  },
  words: { min: 0, max: 100 },
  examples: [
    ['baton recall "never touch the migrations"', 'words that stand in one place'],
    ['baton recall \'"exit code 137"\' --limit 1', 'a phrase, the best place only'],
    ["baton recall 'deploy*' --session d76d6c4d --json", 'for a script'],
    ['baton recall --lost', 'everything the last compaction dropped'],
    ['baton recall --lost migrations --session api', 'of the seat api, only what names the migrations'],
  ],
  json: '{hits: [{archive_id, line, kind, text, …}], scope, unreadable}; scope: session, seat or all. With --lost also {session_id, compaction_started_at, facts, facts_kept, by_kind}, each hit with state and put_back',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  if (call.flag('lost')) return recallLost(call, cli)
  const query = call.words.join(' ')
  const limit = parseLimit(call.value('limit'), 5)
  if (call.words.length === 0)
    throw wrong(command, 'Which words? baton recall <query>.', 'baton recall --lost lists what was dropped.')
  refuseEmpty(query)
  return inArchives(call, cli, (opened) => {
    const lost = new Set<string>()
    const asked = { query, limit, textLength: 10_000, unreadable: (id: string): void => void lost.add(id) }
    const { hits, scope } = look(opened, asked, call.value('session'), cli.env.CLAUDE_CODE_SESSION_ID)
    tellUnreadable(lost, cli)
    if (call.json) cli.print(JSON.stringify({ hits, scope, unreadable: [...lost] }))
    else if (hits.length === 0 && lost.size > 0) return EXIT.failed
    else if (hits.length === 0) cli.print(nothing(opened.house.store.archives().length, cli.screen.columns))
    else cli.print(hits.map((hit) => wholeHit(hit, query, cli).join('\n')).join('\n\n'))
    return EXIT.done
  })
}

function look(
  { house, archives }: Opened,
  asked: SearchRequest,
  session: string | null,
  own: string | undefined,
): { hits: Hit[]; scope: 'session' | 'seat' | 'all' } {
  const within = (sessions: string[]): Hit[] => {
    const wanted = new Set(sessions)
    return archives.search({ ...asked, among: ({ sessionId }) => wanted.has(sessionId) })
  }
  if (session !== null) return { hits: within(sessionsNamed(house, session)), scope: 'session' }
  const record = own ? house.store.session(own) : null
  const near = record ? within(house.store.chain(record.seatId).map(({ sessionId }) => sessionId)) : []
  if (near.length > 0) return { hits: near, scope: 'seat' }
  return { hits: archives.search(asked), scope: 'all' }
}
