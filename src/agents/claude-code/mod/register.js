/**
 * The plugin module inside Claude Code.
 * The client runs it in a worker.
 * The module reports the client's figures about the session and executes orders.
 * No hook waits for either, and no failure reaches the session.
 * Only a compaction waits for the module, for at most 0.8 s.
 * The build bundles these files into one, because the client loads a single file.
 * Claude Code 2.1.325 refuses a module unless `register` is a function declaration and `$` is
 * passed only to functions at the top level (`claude plugin validate` says so).
 */
import { offerCommand, onHandoffCommand } from './command.js'
import { compact, onPostCompact, onSubagentStop } from './compaction.js'
import { onStop, onTurnEnd, onTurnStart } from './idle.js'
import { isWatching, lookSoon, watch } from './orders.js'
import { report, reportCleared } from './report.js'

export function register(on) {
  on('session.start', ($, e, next) => {
    report($, { begins: true, detail: true })
    if (e.isInteractive) {
      watch($)
      offerCommand($)
    }
    return next(e)
  })
  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) {
      onTurnStart(e)
      report($, { begins: true, detail: true })
      watchIfTerminal($)
    }
    return next(e)
  })
  on('tool.call', ($, e, next) => {
    if (e.agentId === undefined) report($, { inTurn: true })
    return next(e)
  })
  on('turn.complete', ($, e, next) => {
    if (e.agentId === undefined) {
      onTurnEnd()
      report($, {})
      lookSoon($)
    }
    return next(e)
  })
  on('session.measure', ($, e, next) => {
    report($, {})
    return next(e)
  })
  on('session.compact', compact)
  on('session.end', async ($, e, next) => {
    const before = await $.session.id()
    const result = await next(e)
    if (e.reason === 'clear') reportCleared($, before)
    return result
  })
  try {
    on('classic.SubagentStop', onSubagentStop)
    on('classic.PostCompact', onPostCompact)
  } catch {
    // A client without these events reports the summary when the compaction has ended.
  }
  try {
    on('classic.Stop', onStop)
    on('command.run', { command: 'handoff' }, onHandoffCommand)
  } catch {
    // A client without these events reports no background tasks or accepts no commands.
  }
}

/** Starts watching in a module reloaded within a session, which gets no session.start event. */
async function watchIfTerminal($) {
  try {
    if (isWatching() || (await $.session.surface()) !== 'terminal') return
    watch($)
    offerCommand($)
  } catch {
    // The next turn tries again.
  }
}
