import { setEnabled } from '../engine/switches.js'
import type { House } from '../house.js'
import { EXIT } from '../lib/errors.js'
import type { SwitchScope } from '../store/store.js'
import type { Call, Cli, Command } from './command.js'
import { inHouse, sessionNamed } from './open-house.js'
import { wrong } from './parse-call.js'
import { projectOf } from './project-of.js'
import { tilde } from './render/paths.js'

interface Target {
  scope: SwitchScope
  keys: string[]
  /** For the sentence: `session d76d6c4d`. */
  name: string
  json: Record<string, string>
}

/** What `off` and `on` have in common: all but the word. */
export function switchCommand(enabled: boolean): Command {
  const word = enabled ? 'on' : 'off'
  const command: Command = {
    name: word,
    summary: enabled
      ? 'let Baton warn again in a session, a project or everywhere'
      : 'keep Baton silent in a session, a project or everywhere',
    usage: ['[session]', '--project', '--all'],
    about:
      'Without a word: the session this command runs in (CLAUDE_CODE_SESSION_ID, set by the agent), else the project of this folder. ' +
      "The nearest switch counts: a session's before its project's before the one for all. Sessions are measured either way." +
      (enabled ? ' Switching on opens the levels again: those already passed are told once more.' : ''),
    options: {
      project: { type: 'boolean', about: 'every session of the project this folder belongs to' },
      all: { type: 'boolean', about: 'every session' },
    },
    words: { min: 0, max: 1 },
    examples: [
      [`baton ${word} d76d6c4d`, 'one session, by the beginning of its id'],
      [`baton ${word} --project`, 'everything in this project'],
      [`baton ${word} --all`, 'everywhere'],
    ],
    json: '{scope, enabled}, and {session_id} or {project}',
    run: (call, cli) => inHouse(cli, (house) => flip(house, command, enabled, call, cli)),
  }
  return command
}

function flip(house: House, command: Command, enabled: boolean, call: Call, cli: Cli): number {
  const target = targetOf(house, command, call, cli)
  const at = cli.now().toISOString()
  for (const key of target.keys) setEnabled(house.engine.parts, target.scope, key, enabled, at)
  if (call.json) cli.print(JSON.stringify({ scope: target.scope, enabled, ...target.json }))
  else {
    const back = { session: ` ${target.json.session_id?.slice(0, 8)}`, project: ' --project', all: ' --all' }[target.scope]
    cli.print(`Baton is ${command.name} for ${target.name}.`)
    cli.print(
      `${cli.screen.paint(`baton ${enabled ? 'off' : 'on'}${back} turns it ${enabled ? 'off again' : 'back on'}.`, 'dim')}`,
    )
  }
  return EXIT.done
}

function targetOf(house: House, command: Command, call: Call, cli: Cli): Target {
  const [named] = call.words
  const given = [named !== undefined, call.flag('project'), call.flag('all')].filter(Boolean).length
  if (given > 1) throw wrong(command, 'A session, --project and --all exclude each other.', 'Give one of them, or none.')
  if (call.flag('all')) return { scope: 'all', keys: [''], name: 'all sessions', json: {} }
  if (named !== undefined) return session(sessionNamed(house, named).sessionId, '')
  const own = cli.env.CLAUDE_CODE_SESSION_ID
  if (own && !call.flag('project')) return session(own, ' (the one this command runs in)')
  const { project, spellings, known } = projectOf(house, cli.cwd)
  const unseen = known ? '' : ' (no session was seen there yet)'
  return { scope: 'project', keys: spellings, name: `the project ${tilde(project, cli.env.HOME)}${unseen}`, json: { project } }
}

function session(id: string, more: string): Target {
  return { scope: 'session', keys: [id], name: `session ${id.slice(0, 8)}${more}`, json: { session_id: id } }
}
