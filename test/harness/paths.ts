import { createRequire } from 'node:module'
import path from 'node:path'

/** Every folder of a test bears this name, so that a trace of one in the real home can be told. */
export const PREFIX = 'baton-test-'

export const REPOSITORY = path.resolve(import.meta.dirname, '../..')

/** The built command. */
export const BATON = path.join(REPOSITORY, 'dist', 'baton.mjs')

/** The real client, from the SDK's own package. */
export function clientBinary(): string {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'claude')
}
