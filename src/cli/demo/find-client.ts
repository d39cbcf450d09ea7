import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { BatonError, EXIT } from '../../lib/errors.js'
import { findProgram } from '../find-program.js'

/** The real client: the one on the PATH, else the one inside the Agent SDK's package beside Baton. */
export function findClient(env: Record<string, string | undefined>, program: string): string {
  const found = findProgram('claude', env) ?? packaged(program)
  if (found !== null) return found
  throw new BatonError(
    'The demo runs the real Claude Code, and none was found.',
    'Install it (npm install -g @anthropic-ai/claude-code), or run the demo from a checkout: npm install && npm run demo',
    EXIT.notFound,
  )
}

function packaged(program: string): string | null {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  try {
    const path = join(dirname(createRequire(join(program, 'baton.mjs')).resolve(`${name}/package.json`)), 'claude')
    return existsSync(path) ? path : null
  } catch {
    return null
  }
}
