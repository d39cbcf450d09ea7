import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk'

/** As much of the SDK as is used here. */
export interface Sdk {
  query(call: { prompt: AsyncIterable<unknown>; options: Record<string, unknown> }): SdkQuery
}

export interface SdkQuery extends AsyncIterable<unknown> {
  initializationResult(): Promise<unknown>
  getContextUsage(wish: { detail: 'summary' }): Promise<unknown>
  applyFlagSettings(settings: Record<string, unknown>): Promise<unknown>
  interrupt(): Promise<unknown>
  stopTask(taskId: string): Promise<unknown>
}

/** Where the SDK lies: in the user's project, else beside Baton itself; null: in neither. */
export function findSdk(project: string): string | null {
  for (const from of [join(project, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(SDK_PACKAGE)
    } catch {
      // not here
    }
  }
  return null
}

/** Throws what the package throws. */
export async function loadSdk(path: string): Promise<Sdk> {
  return (await import(pathToFileURL(path).href)) as Sdk
}
