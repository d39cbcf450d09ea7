import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTestHome, type TestHome, tellEvent } from './cli-home.js'

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
export function working(fixture: TestHome, session = A, env: Record<string, string> = { BATON_SEAT: 'api' }): void {
  const transcript = join(fixture.user, '.claude', `${session}.jsonl`)
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
  fixture.fill((app) => {
    tellEvent(app, 'SessionStart', session, fixture.project, { source: 'startup', ...more }, all)
    tellEvent(app, 'UserPromptSubmit', session, fixture.project, { prompt: REQUEST, ...more }, all)
  })
}

/** Ends the session's turn. */
export function ended(fixture: TestHome, session = A): void {
  fixture.fill((app) => {
    tellEvent(app, 'Stop', session, fixture.project, { stop_hook_active: false }, { CLAUDE_CODE_SESSION_ATTENDED: '1' })
  })
}

export function atWork(): TestHome {
  const fixture = createTestHome()
  working(fixture)
  return fixture
}

/** Returns everything a refused command must leave unchanged. */
export function state(fixture: TestHome): unknown {
  return fixture.fill(({ store }) => [
    store.handoffs(),
    store.briefs(),
    store.sessions(),
    store.messages(),
    store.events(),
  ])
}
