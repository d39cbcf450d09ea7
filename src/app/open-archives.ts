import type { ProgramContext } from '../lib/program-context.js'
import { archivesOf, finishAll, type OpenedArchives, type ProgressReport, withProgress } from './archives.js'
import { withOpenApp } from './open-app.js'

/**
 * Opens the archives for one command.
 * Writes planned archives first, so that the command shows everything that hooks planned.
 */
export async function withOpenArchives<T>(
  program: ProgramContext,
  progress: ProgressReport,
  work: (opened: OpenedArchives) => T | Promise<T>,
  { finish = true }: { finish?: boolean } = {},
): Promise<T> {
  return withOpenApp(program, async (app) => {
    const archives = withProgress(archivesOf(app), progress)
    try {
      if (finish && archives.hasWork()) finishAll({ app, archives, progress })
      return await work({ app, archives, progress })
    } finally {
      progress.end()
      archives.close()
    }
  })
}
