import { factsOf } from '../../briefs-of.js'
import { type Offered, offerBrief } from '../../engine/handoff-calls.js'
import { isThere } from '../../engine/leave-session.js'
import { viewCoverage } from '../../engine/view-brief.js'
import { isPrompt } from '../../engine/wake.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { bodyIn, callerOf, sessionMeant } from '../handoffs/find.js'
import { inHouse } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { coverageLines, scoreText } from '../render/brief-lines.js'
import { nextText } from '../render/brief-next.js'
import { tilde } from '../render/paths.js'
import { wrap } from '../render/wrap.js'

export const command: Command = {
  name: 'handoff',
  summary: 'give a brief: a fresh session goes on with the work from it',
  usage: ['<file> [--session ID] [--reason TEXT]'],
  about:
    'For agents, in their own shell (CLAUDE_CODE_SESSION_ID is set), and for people with --session. The file is copied at once: what happens to it ' +
    'later does not matter. Baton checks it against the transcript, appends what it lacks, and at the end of the turn a fresh session ' +
    'begins with it. Given twice, the last one counts. A text file of at most 1 MB, wherever you can read it; a session may only be handed over ' +
    'by itself, by its parent seat, or by you.',
  options: {
    session: { type: 'string', value: 'ID', about: 'whose work it is: a session, or a seat (its present session)' },
    reason: { type: 'string', value: 'TEXT', about: 'why, in your words' },
  },
  words: { min: 1, max: 1 },
  examples: [
    ['baton handoff brief.md', 'by the agent, for its own session'],
    ['baton handoff brief.md --session api --reason "done for today"', 'by you, for the seat named api'],
    ['baton handoffs check brief.md', 'only see what it lacks'],
  ],
  json: '{brief_id, session_id, seat_id, path, sequence, coverage: {score, missing: [{kind, text}], unsupported, by_kind}, status, handoff_id, handoff_state, next}; score is null where there was no transcript',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const target = sessionMeant(house, cli, call.value('session'))
    if (target === null)
      throw wrong(command, 'Whose brief is it? baton handoff <file> --session ID.', 'baton status lists the sessions.')
    const asked = { sessionId: target.sessionId, caller: callerOf(cli), reason: call.value('reason') }
    const body = bodyIn(house, cli, call.words[0]!)
    const offered = offerBrief(house.engine.parts, { ...asked, body, read: factsOf(house, target) })
    const next = whatNext(house, cli, offered)
    if (call.json) cli.print(JSON.stringify({ ...view(offered), next }))
    else cli.print(lines(house, cli, offered, next).join('\n'))
    return EXIT.done
  })
}

function view({ brief, handoff }: Offered) {
  const unchecked = { score: null, missing: [], unsupported: [], by_kind: {} }
  return {
    brief_id: brief.briefId,
    session_id: brief.sessionId,
    seat_id: brief.seatId,
    path: brief.path,
    sequence: brief.sequence,
    coverage: brief.coverage === null ? unchecked : viewCoverage(brief.coverage),
    status: brief.status,
    handoff_id: handoff.handoffId,
    handoff_state: handoff.state,
  }
}

/** What happens to the handoff of a brief that was just given or changed. */
export function whatNext(house: House, cli: Cli, { handoff }: Pick<Offered, 'handoff'>): string {
  const session = house.store.session(handoff.sessionId)!
  const agent = house.engine.parts.agents[session.agent]!
  const own = callerOf(cli) === session.sessionId
  const open = house.store.openMessages(session.seatId)
  const woken = open.some((message) => message.category === 'handoff' && message.status === 'sent' && isPrompt(message))
  return nextText({ handoff, session, there: isThere({ agent, record: session }), own, woken })
}

function lines(house: House, cli: Cli, { brief }: Offered, next: string): string[] {
  const { columns, paint } = cli.screen
  const seat = house.store.seat(brief.seatId)?.name
  const { coverage } = brief
  const carries =
    coverage === null
      ? 'It could not be checked: no transcript of the session can be read.'
      : `It carries ${scoreText(coverage)} of what happened.`
  return [
    ...wrap(
      `${paint('Brief', 'green')} ${brief.sequence}${seat ? ` of seat ${seat}` : ''} is kept as ${brief.briefId}. ${carries}`,
      columns,
      2,
    ),
    `  ${tilde(brief.path, cli.env.HOME)}`,
    ...(coverage === null ? [] : coverageLines(viewCoverage(coverage), 'It lacked, and Baton added:', cli.screen)),
    ...wrap(next, columns, 2),
  ]
}
