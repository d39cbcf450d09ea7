import { createRequire } from 'node:module'
import path from 'node:path'

/** Name prefix of every test folder, by which traces of a test in the real home are found. */
export const PREFIX = 'baton-test-'

export const REPOSITORY = path.resolve(import.meta.dirname, '../..')

/** The built `baton` program. */
export const BATON = path.join(REPOSITORY, 'dist', 'baton.mjs')

/** Returns the path of the real client in the Agent SDK's package. */
export function clientBinary(): string {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'claude')
}
