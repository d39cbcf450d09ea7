import { EXIT } from '../../lib/errors.js'
import { shownBy } from '../../shown.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse, sessionNamed } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { type Detail, sessionPage } from '../render/session-page.js'

const EVENTS = 8

export const command: Command = {
  name: 'show',
  summary: 'show one session: context, levels, handoffs, archives, what compactions lost, spend',
  usage: ['<session|seat>'],
  about:
    'Give the id of a session, its beginning (four characters or more), or a seat: then the session that sits in it is meant. ' +
    'Run by an agent (CLAUDE_CODE_SESSION_ID is set), it shows that session when none is named.',
  options: {},
  words: { min: 0, max: 1 },
  examples: [
    ['baton show d76d6c4d', 'a session by the beginning of its id'],
    ['baton show api', 'the present session of the seat named api'],
    ["baton show d76d --json | jq '.levels'", 'its levels and when they were crossed'],
    ["baton show api --json | jq -r '.briefs[-1].path'", 'the newest brief of a seat'],
    ["baton show d76d --json | jq '.losses[-1].lost'", 'every fact its last compaction dropped'],
  ],
  json: 'Session and {cycle_started_at, cycle_reason, levels, subagents, chain, handoff, briefs, archives, losses}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const id = call.words[0] ?? cli.env.CLAUDE_CODE_SESSION_ID
  if (!id) throw wrong(command, 'Which session? baton show <session|seat>.', 'baton status lists them.')
  return inHouse(cli, (house) => {
    const record = sessionNamed(house, id)
    const detail = shownBy(house).detail(record)
    if (call.json) cli.print(JSON.stringify(detail))
    else {
      const lines = sessionPage(detail as unknown as Detail, {
        seatName: house.store.seat(record.seatId)?.name ?? null,
        pointExact: record.track.limits.exact,
        compactions: house.store.compactions(record.sessionId),
        events: house.store.events({ sessionId: record.sessionId, limit: EVENTS }),
        columns: cli.screen.columns,
        paint: cli.screen.paint,
        now: cli.now(),
        home: cli.env.HOME,
      })
      cli.print(lines.join('\n'))
    }
    return EXIT.done
  })
}
