import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { briefNamed, editableText, readBriefFiles, replaceBriefText, textAddedByBaton } from '../../app/briefs.js'
import {
  approveNamedBrief,
  cancelNamedHandoff,
  checkBriefText,
  giveBrief,
  handoffOfBrief,
  listHandoffs,
  requestHandoff,
  writeBriefWithoutModel,
} from '../../app/handoffs.js'
import { typeMessages } from '../../app/messages.js'
import { withOpenApp } from '../../app/open-app.js'
import {
  namedOrCurrentSession,
  newestProjectSession,
  newestRunningProjectSession,
  seatName,
  sessionNamed,
} from '../../app/sessions.js'
import { untrustedText } from '../../briefs/resume-text.js'
import type { SignatureVerdict } from '../../briefs/sign.js'
import type { BriefOrigin, BriefRecord } from '../../contract/records/brief.js'
import { beginEditing, endEditing } from '../../engine/handoff/handoff-calls.js'
import type { App } from '../../engine/open-engine.js'
import { viewBrief, viewCoverage, viewHandoff } from '../../engine/views/brief-view.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { displayPath } from '../../lib/replace-controls.js'
import type { Call, Cli } from '../command.js'
import { briefPage, briefTable, coverageLines, handoffText, scoreText } from '../render/briefs.js'
import { kindsText } from '../render/session-page.js'
import { wrap } from '../render/text.js'
import { openEditor } from '../terminal.js'
import { callingAgent, describeNextStep, readOfferedBrief, readOfferedBriefBody } from './handoffs.js'

export async function listHandoffsCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const listed = listHandoffs(app, { seat: call.value('seat'), all: call.flag('all') })
    const briefs = listed.briefs.map(viewBrief)
    const { handoffs, total } = listed
    if (call.json) {
      cli.print(JSON.stringify({ briefs, handoffs }))
      return EXIT.done
    }
    const { columns, paint } = cli.screen
    const say = (text: string): void => cli.print(wrap(text, columns, 2).join('\n'))
    if (briefs.length > 0) cli.print(briefTable(briefs, (id) => seatName(app, id), cli).join('\n'))
    else say(none(total))
    const left = total - briefs.length
    if (left > 0 && briefs.length > 0) say(paint(`and ${left} more (baton handoffs list --all)`, 'dim'))
    for (const handoff of handoffs)
      say(`${paint('open handoff', 'yellow')}  ${seatName(app, handoff.seat_id)}: ${handoffText(handoff, cli.now())}`)
    return EXIT.done
  })
}

function none(all: number): string {
  return all > 0
    ? 'No brief is ready or in use. baton handoffs list --all shows ' +
        `${all === 1 ? 'the past brief' : `all ${all} past briefs`}.`
    : 'No briefs yet. baton handoffs request <seat> asks an agent for one; /handoff in Claude Code does the same.'
}

const LONGEST = 64_000

export async function showBriefCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const record = briefNamed(app, call.words[1]!)
    const { verdict, body, text, origin, addenda } = readBriefFiles(app, record)
    // Mark a changed file as data, because an agent may also run this command.
    const untrusted = body === null || text !== null ? null : untrustedText(record.path, body, LONGEST)
    const brief = viewBrief(record)
    const handoff = handoffOfBrief(app, record)
    if (call.json) {
      const from = origin && spelled(origin)
      const shown = {
        ...brief,
        addenda,
        verdict,
        text,
        untrusted_text: untrusted,
        added: textAddedByBaton(text),
        front_matter: from,
        handoff,
      }
      cli.print(JSON.stringify(shown))
      return EXIT.done
    }
    const seatName = app.store.seat(record.seatId)?.name ?? null
    const { columns, paint } = cli.screen
    const on = { columns, paint, now: cli.now(), home: cli.env.HOME }
    cli.print(briefPage({ brief, verdict, text, untrusted, addenda, handoff, seatName }, on).join('\n'))
    return EXIT.done
  })
}

/** Returns the front matter with the key names of the file. */
function spelled(origin: BriefOrigin): Record<string, unknown> {
  const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(origin).map(([key, value]) => [snake(key), value]))
}

export async function checkBriefCommand(call: Call, cli: Cli): Promise<number> {
  const bar = barOf(call.value('bar'))
  return withOpenApp(cli, (app) => {
    const text = readOfferedBrief(cli, call.words[1]!)
    const record = namedOrCurrentSession(app, cli.env, call.value('session')) ?? newestProjectSession(app, cli.cwd)
    const { coverage, verdict } = checkBriefText(app, record, text)
    const passed = bar === null || coverage.score >= bar
    if (call.json) {
      cli.print(JSON.stringify({ ...viewCoverage(coverage), session_id: record.sessionId, verdict, bar, passed }))
    } else {
      const { columns, paint } = cli.screen
      const score = paint(scoreText(coverage), passed && coverage.missing.length === 0 ? 'green' : 'yellow')
      const all = Object.values(coverage.byKind).reduce((sum, { total }) => sum + total, 0)
      const what = all === 0 ? 'There are no facts for a brief to cover' : `The text covers ${score} of what happened`
      cli.print(
        [
          ...wrap(`${what} in session ${record.sessionId.slice(0, 8)}.`, columns, 2),
          ...(all === 0 ? [] : wrap(kindsText(coverage), columns, 2)),
          ...coverageLines(coverage, 'Missing facts:', cli.screen, Number.POSITIVE_INFINITY),
          ...(verdict === null ? [] : wrap(VERDICTS[verdict], columns, 2)),
          ...(passed ? [] : wrap(paint(`The score is below ${bar} (--bar).`, 'red'), columns, 2)),
        ].join('\n'),
      )
    }
    return passed ? EXIT.done : EXIT.failed
  })
}

const VERDICTS: Record<SignatureVerdict, string> = {
  genuine: 'Its signature is valid: Baton stored this text, and it was not changed since.',
  tampered: 'Its signature is invalid: the text was changed, or signed on another machine.',
  unsigned: 'It has front matter without a signature: anybody may have written it.',
}

function barOf(written: string | null): number | null {
  if (written === null) return null
  const bar = Number(written)
  if (written.trim() !== '' && bar >= 0 && bar <= 1) return bar
  throw new BatonError(`--bar cannot be "${written}".`, 'Give a number from 0 to 1, such as 0.8.', EXIT.usage)
}

export async function requestHandoffCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, async (app) => {
    const record = sessionNamed(app, call.words[1]!)
    const handoff = requestHandoff(app, record, { caller: callingAgent(cli), reason: call.value('reason') })
    await typeMessages(app, handoff.seatId)
    const next = describeNextStep(app, cli, { handoff })
    if (call.json) cli.print(JSON.stringify({ ...viewHandoff(handoff), next }))
    else {
      const who = `session ${record.sessionId.slice(0, 8)} of seat ${seatName(app, handoff.seatId)}`
      cli.print(wrap(`Requested a handoff of ${who}. ${next}`, cli.screen.columns, 2).join('\n'))
    }
    return EXIT.done
  })
}

export async function approveBriefCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const { brief, handoff } = approveNamedBrief(app, call.words[1]!, callingAgent(cli))
    const next = describeNextStep(app, cli, { handoff })
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(brief), handoff: viewHandoff(handoff), next }))
    else cli.print(wrap(`${brief.briefId} is approved. ${next}`, cli.screen.columns, 2).join('\n'))
    return EXIT.done
  })
}

/** Cancels a handoff, named by its brief or by its seat. */
export async function cancelHandoffCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const caller = callingAgent(cli)
    const { brief, handoff } = cancelNamedHandoff(app, call.words[1]!, caller)
    if (call.json) {
      const told = { handoff: handoff ? viewHandoff(handoff) : null, brief: brief ? viewBrief(brief) : null }
      cli.print(JSON.stringify(told))
    } else {
      const text = handoff
        ? `The handoff of seat ${seatName(app, handoff.seatId)} is cancelled. Session ` +
          `${handoff.sessionId.slice(0, 8)} continues.`
        : `${brief!.briefId} is cancelled. Its text stays in ${brief!.path}.`
      cli.print(wrap(text, cli.screen.columns, 2).join('\n'))
    }
    return EXIT.done
  })
}

export async function editBriefCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const old = briefNamed(app, call.words[1]!)
    const text = editableText(app, callingAgent(cli), old)
    const file = call.value('file')
    if (file !== null) return keep(app, call, cli, old, text, readOfferedBriefBody(app, cli, file))
    const folder = mkdtempSync(join(tmpdir(), 'baton-edit-'))
    const copy = join(folder, `${old.briefId}.md`)
    writeFileSync(copy, text, { mode: 0o600 })
    chmodSync(folder, 0o700)
    let kept = false
    beginEditing(app.engine.deps, old.briefId)
    try {
      const instead = 'give the new text with --file FILE'
      openEditor(cli, copy, { json: call.json, unchanged: 'the brief', instead })
      const code = keep(app, call, cli, old, text, readOfferedBriefBody(app, cli, copy))
      kept = true
      return code
    } finally {
      // Keep the user's text in its file when it could not be used.
      if (!kept) endEditing(app.engine.deps, old.briefId)
      if (kept || readFileSync(copy, 'utf8') === text) rmSync(folder, { recursive: true, force: true })
      else cli.note(`Your text is kept in ${copy}.`)
    }
  })
}

function keep(app: App, call: Call, cli: Cli, old: BriefRecord, before: string, body: string): number {
  const { brief, handoff, changed } = replaceBriefText(app, callingAgent(cli), old, before, body)
  if (!changed) {
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(old), changed, handoff: null, next: null }))
    else cli.print(`${old.briefId} is unchanged.`)
    return EXIT.done
  }
  const next = handoff && describeNextStep(app, cli, { handoff })
  if (call.json)
    cli.print(JSON.stringify({ ...viewBrief(brief), changed: true, handoff: handoff && viewHandoff(handoff), next }))
  else {
    const { columns } = cli.screen
    const text = `${brief.briefId} replaces ${old.briefId}. It covers ${scoreText(brief.coverage)} of what happened.`
    cli.print(
      [
        ...wrap(text, columns, 2),
        `  ${displayPath(brief.path, cli.env.HOME)}`,
        ...(next ? wrap(next, columns, 2) : []),
      ].join('\n'),
    )
  }
  return EXIT.done
}

/** Writes a brief without a model, for a running or ended session. */
export async function writeBriefCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const record = namedOrCurrentSession(app, cli.env, call.value('session')) ?? newestProjectSession(app, cli.cwd)
    const asked = { caller: callingAgent(cli), reason: 'It was asked for by a command.', mayBeEmpty: false }
    const brief = writeBriefWithoutModel(app, record, asked)
    if (call.json) cli.print(JSON.stringify(viewBrief(brief)))
    else {
      const stored = `Brief ${brief.sequence} of seat ${seatName(app, brief.seatId)} is stored as ${brief.briefId}.`
      const said = `${stored} It covers ${scoreText(brief.coverage)} of what happened.`
      const next = `To give the brief to a running session: baton handoffs use ${brief.briefId}.`
      const { columns } = cli.screen
      cli.print(
        [...wrap(said, columns, 2), `  ${displayPath(brief.path, cli.env.HOME)}`, ...wrap(next, columns, 2)].join('\n'),
      )
    }
    return EXIT.done
  })
}

/** Gives an existing brief to a running session. */
export async function useBriefCommand(call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const target =
      namedOrCurrentSession(app, cli.env, call.value('session')) ?? newestRunningProjectSession(app, cli.cwd)
    const brief = giveBrief(app, call.words[1]!, target, callingAgent(cli))
    const next = 'The agent gets it with its next request.'
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(brief), next }))
    else
      cli.print(
        wrap(
          `${brief.briefId} is queued for session ${target.sessionId.slice(0, 8)}. ${next}`,
          cli.screen.columns,
          2,
        ).join('\n'),
      )
    return EXIT.done
  })
}
