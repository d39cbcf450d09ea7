import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newTrial, type Trial, tellEvent } from './cli-home.js'

export const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
export const B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
export const REQUEST = 'Never touch legacy/a.ts. Fix the login.'
export const WHOLE = `# Handoff brief

## Next exact step
Run the tests of src/login.ts.

## Constraints
Never touch legacy/a.ts.

## Last user request
> ${REQUEST}
`
export const THIN = '# Handoff brief\n\n## Next exact step\nRun the tests of src/login.ts.\n'

/** Returns the environment of an agent's own shell. */
export const inside = (session: string): Record<string, string> => ({ CLAUDE_CODE_SESSION_ID: session })

/** Creates a session in the middle of a turn, with a transcript that holds a request. */
export function working(trial: Trial, session = A, env: Record<string, string> = { BATON_SEAT: 'api' }): void {
  const transcript = join(trial.user, '.claude', `${session}.jsonl`)
  mkdirSync(dirname(transcript), { recursive: true })
  const message = { role: 'user', content: REQUEST }
  const line = {
    type: 'user',
    sessionId: session,
    isSidechain: false,
    promptSource: 'typed',
    turnOrigin: 'human',
    message,
  }
  appendFileSync(transcript, `${JSON.stringify(line)}\n`)
  const all = { CLAUDE_CODE_SESSION_ATTENDED: '1', ...env }
  const more = { transcript_path: transcript }
  trial.fill((app) => {
    tellEvent(app, 'SessionStart', session, trial.project, { source: 'startup', ...more }, all)
    tellEvent(app, 'UserPromptSubmit', session, trial.project, { prompt: REQUEST, ...more }, all)
  })
}

/** Ends the session's turn. */
export function ended(trial: Trial, session = A): void {
  trial.fill((app) => {
    tellEvent(app, 'Stop', session, trial.project, { stop_hook_active: false }, { CLAUDE_CODE_SESSION_ATTENDED: '1' })
  })
}

export function atWork(): Trial {
  const trial = newTrial()
  working(trial)
  return trial
}

/** Returns everything a refused command must leave unchanged. */
export function state(trial: Trial): unknown {
  return trial.fill(({ store }) => [
    store.handoffs(),
    store.briefs(),
    store.sessions(),
    store.messages(),
    store.events(),
  ])
}
