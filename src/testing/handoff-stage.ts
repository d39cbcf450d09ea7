import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HandoffRecord, Order } from '../contract/records/handoff.js'
import { type TestApp, type TestSession, testApp, testSession } from './engine-session.js'

export const ATTENDED_ENVIRONMENT = { CLAUDE_CODE_SESSION_ATTENDED: '1' }
/** Environment of a client that a user runs in a named seat. */
export const SEAT_ENVIRONMENT = { ...ATTENDED_ENVIRONMENT, BATON_SEAT: 'api' }

export const USER_REQUEST = 'Never touch legacy/a.ts. Fix the login.'
/** Brief that covers everything the session of the stage was asked for. */
export const WHOLE_BRIEF = `# Handoff brief

## Goal and why
Fix the login for the shop, because it opens on Monday.

## Next exact step
Run the tests of src/login.ts.

## Constraints
Never touch legacy/a.ts.

## Last user request
> ${USER_REQUEST}
`

export interface HandoffSession {
  app: TestApp
  /** Session that was given a request and is working on it. */
  session: TestSession
  lastHandoff(): HandoffRecord
  /** Returns the order to clear in the live folder, else null. */
  order(of?: TestSession): Order | null
}

export function prepareHandoffSession(env: Record<string, string> = SEAT_ENVIRONMENT): HandoffSession {
  const app = testApp()
  const session = testSession(app, 'aaaaaaaa-0001', env)
  session.start()
  session.asks(USER_REQUEST)
  return {
    app,
    session,
    lastHandoff: () => app.store.handoffs().at(-1)!,
    order(of = session) {
      const file = join(app.liveDir, `${of.id}.order.json`)
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Order) : null
    },
  }
}

/**
 * Returns the text with which a hook's answer makes the agent continue its turn.
 * Empty when it lets it end.
 */
export function continuationText(answer: string): string {
  return answer === '' ? '' : (JSON.parse(answer).hookSpecificOutput?.additionalContext ?? '')
}
