import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '../../lib/atomic-file.js'
import { reasonOf } from '../../lib/errors.js'
import { entries, openSettings, statusLineCommandIn } from '../claude-code-settings.js'
import { hookCommand, readStatusLine, statusLineCommand } from '../launcher-call.js'
import { keyOf, lookAtLauncher } from '../look.js'
import { type Sample, sampleSignals } from './claude-code-sample.js'
import { broken, type Finding, fine } from './finding.js'
import { lastError, tailOf } from './log.js'
import type { Env, Patient } from './patient.js'
import { installedParts } from './programs.js'
import { recognise, targetsOf } from './targets.js'
import { awaitEngine, inTrialHome, run } from './trial-run.js'

const MEND = 'Mend what the other checks name; if they name nothing, the log says more.'

/**
 * The proof: the commands of the client's settings are run as the client runs them, the installed launcher and engine do their
 * work, and a reading is looked for in the store. Only the home is another one, made for this and removed, so that no session
 * appears that never was.
 */
export async function checkSignal(patient: Patient): Promise<Finding> {
  if (!lookAtLauncher(patient.home.launcher)) return broken('No signal arrives: there is no launcher to send one.', MEND)
  return inTrialHome(patient.env, (home, env) => send(patient, home, env, sampleSignals(home, crypto.randomUUID())))
}

async function send(patient: Patient, home: string, env: Env, sample: Sample): Promise<Finding> {
  const commands = commandsOf(patient)
  const began = performance.now()
  const start = await run(commands.hook, sample.sessionStart, env, home)
  if (start.code !== 0)
    return broken(`The hook's command ends with ${start.code ?? 'no code'} instead of 0: ${commands.hook}`, MEND)
  await awaitEngine(home)
  const stored = Math.round(performance.now() - began)
  const line = await run(commands.line, sample.statusLine, env, home)
  const missing = look(patient, env, sample)
  if (missing) return broken(`No signal arrives: ${missing}. ${await reason(patient, home, sample, env)}`.trim(), MEND)
  if (line.stdout.trim() === '') return broken('A signal arrives, but the status line shows nothing.', MEND)
  return fine(
    `A signal arrives: hook answered in ${start.ms} ms and in the store after ${stored} ms, status line in ${line.ms} ms.`,
  )
}

/** The commands the settings hold; where they hold none, those that install would write: what is wrong there has its own check. */
function commandsOf(patient: Patient): { hook: string; line: string } {
  const by = recognise(patient)
  const { launcher } = patient.home
  const commands = { hook: hookCommand(launcher, 'SessionStart'), line: statusLineCommand(launcher, keyOf(launcher), null) }
  for (const { path } of targetsOf(patient)) {
    try {
      const text = readIfThere(path)?.toString() ?? ''
      const entry = entries(openSettings(text), by).find(({ call }) => call.args[0] === 'SessionStart' && call.whose === 'ours')
      const line = statusLineCommandIn(text)
      if (entry) commands.hook = (entry.hook as { command: string }).command
      if (line !== null && readStatusLine(line, by)?.whose === 'ours') commands.line = line
      if (entry) return commands
    } catch {}
  }
  return commands
}

/** What did not arrive; null: all of it did. */
function look(patient: Patient, env: Env, sample: Sample): string | null {
  if (!existsSync(join(env.BATON_HOME!, 'baton.db'))) return 'the engine made no store'
  try {
    const house = patient.instruments.openHouse(env)
    try {
      const record = house.store.session(sample.sessionId)
      if (!record) return 'the session is not in the store'
      return record.track.used === sample.used ? null : 'its reading is not in the store'
    } finally {
      house.close()
    }
  } catch (error) {
    return reasonOf(error)
  }
}

/** Hooks are silent whatever happens to them; so the engine is asked once more, aloud. */
async function reason(patient: Patient, home: string, sample: Sample, env: Env): Promise<string> {
  const log = join(home, 'baton.log')
  const logged = existsSync(log) ? lastError(tailOf(log), new Date()) : null
  if (logged) return logged
  const parts = installedParts(patient)
  if (!parts || !existsSync(parts.engine)) return 'The engine is missing.'
  const words = [parts.node, parts.engine, 'status-line'].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const { stderr } = await run(`exec ${words.join(' ')}`, sample.statusLine, env, home)
  const said = stderr.split('\n').find((one) => /error|cannot|not found/i.test(one))
  return said ? `The engine says: ${said.trim().slice(0, 300)}` : ''
}
