import { join } from 'node:path'
import type { Cli } from '../command.js'
import { findProgram } from '../find-program.js'
import type { Summary } from './summary.js'

/** What to type next, in another terminal, while the demo's home is there: to be copied, so no line is broken or cut. */
export function lookAround(env: Record<string, string>, { session_id: session, handoff, job }: Summary, cli: Cli): string[] {
  const { paint } = cli.screen
  const known = findProgram('baton', cli.env) !== null
  const commands: [string, string][] = [
    ['status --all', 'every session that was'],
    ...(session === null ? [] : ([[`show ${session.slice(0, 8)}`, 'act 1: levels, archive, loss']] as [string, string][])),
    ...(handoff?.brief_id ? ([[`handoffs show ${handoff.brief_id}`, 'act 2: the brief']] as [string, string][]) : []),
    ...(job
      ? ([
          [`jobs show ${job.job_id}`, 'act 3: sessions, checks'],
          [`jobs logs ${job.job_id}`, 'and all that was said'],
        ] as [string, string][])
      : []),
    ['open --port 0', 'all of it as a page, live'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length))
  return [
    '',
    paint('Look around in it, in another terminal', 'bold'),
    `  export BATON_HOME=${env.BATON_HOME}`,
    ...(known ? [] : [`  alias baton="node ${join(cli.program, 'baton.mjs')}"`]),
    ...commands.map(([command, about]) => `  baton ${command.padEnd(width)}  ${paint(`# ${about}`, 'dim')}`),
    '',
  ]
}
