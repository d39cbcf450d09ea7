import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTestHome, sendClientEvent, type TestHome } from './cli-home.js'

export const SESSION_A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'
export const SESSION_B = 'bbbbbbbb-ef1f-4334-9716-3be98836406b'
export const USER_REQUEST = 'Never touch legacy/a.ts. Fix the login.'
export const COMPLETE_BRIEF = `# Handoff brief

## Next exact step
Run the tests of src/login.ts.

## Constraints
Never touch legacy/a.ts.

## Last user request
> ${USER_REQUEST}
`
export const INCOMPLETE_BRIEF = '# Handoff brief\n\n## Next exact step\nRun the tests of src/login.ts.\n'

/** Returns the environment of an agent's own shell. */
export const sessionEnvironment = (session: string): Record<string, string> => ({ CLAUDE_CODE_SESSION_ID: session })

/** Creates a session in the middle of a turn, with a transcript that holds a request. */
export function startTurn(
  fixture: TestHome,
  session = SESSION_A,
  env: Record<string, string> = { BATON_SEAT: 'api' },
): void {
  const transcript = join(fixture.user, '.claude', `${session}.jsonl`)
  mkdirSync(dirname(transcript), { recursive: true })
  const message = { role: 'user', content: USER_REQUEST }
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
  fixture.fill((app) => {
    sendClientEvent(app, 'SessionStart', session, fixture.project, { source: 'startup', ...more }, all)
    sendClientEvent(app, 'UserPromptSubmit', session, fixture.project, { prompt: USER_REQUEST, ...more }, all)
  })
}

/** Ends the session's turn. */
export function endTurn(fixture: TestHome, session = SESSION_A): void {
  fixture.fill((app) => {
    sendClientEvent(
      app,
      'Stop',
      session,
      fixture.project,
      { stop_hook_active: false },
      { CLAUDE_CODE_SESSION_ATTENDED: '1' },
    )
  })
}

export function homeWithWorkingSession(): TestHome {
  const fixture = createTestHome()
  startTurn(fixture)
  return fixture
}

/** Returns everything a refused command must leave unchanged. */
export function storedState(fixture: TestHome): unknown {
  return fixture.fill(({ store }) => [
    store.handoffs(),
    store.briefs(),
    store.sessions(),
    store.messages(),
    store.events(),
  ])
}
