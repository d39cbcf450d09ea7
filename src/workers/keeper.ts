import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { withoutClientVariables } from '../agents/clients.js'
import { agents } from '../agents/index.js'
import { archivesOf, finishArchives, retainArchives } from '../app/archives.js'
import { startTimeLimit } from '../archive/time-limit.js'
import { sameTarget } from '../contract/records/notice.js'
import { watchFolders } from '../delivery/channels/changes.js'
import { sendNotices } from '../delivery/notify/send-notices.js'
import type { App } from '../engine/open-engine.js'
import { connectToServer } from '../lib/announced-server.js'
import { reasonOf } from '../lib/errors.js'
import { faultPoint } from '../lib/fault-point.js'
import { claimHour, sweepHourlyClaim } from '../lib/hourly-claim.js'
import { isAlive } from '../lib/process-info.js'
import { terminalOf } from '../lib/process-terminal.js'

export * as rareWork from '../engine/rare-work.js'
export { driveHandoffs } from './typist.js'

/**
 * Does the work around compactions in the background.
 * Stores transcripts, indexes them for search, and reads long ones.
 * Deletes old archives as configured.
 * The keeper is a bundle of its own, because it is needed only a few times a day.
 */
export function runKeeper(app: App): void {
  try {
    app.engine.catchUp()
  } catch (error) {
    // A compaction that cannot be read must not stop the archiving of transcripts.
    const reason = reasonOf(error)
    app.log('error', 'pending work of compactions could not be done', { reason })
  }
  const swept = sweep(app)
  const archives = archivesOf(app)
  try {
    if (!swept && !archives.hasWork()) return
    finishArchives(app, archives)
    retainArchives(app, archives)
  } finally {
    archives.close()
  }
}

/**
 * Most archives planned per hourly search.
 * Planning an archive takes a few milliseconds, and the next search plans the rest.
 */
const MOST_SWEPT = 200
const SWEEP_MS = 30_000

/** Plans archives of sessions that ended without a signal, hourly in one process. Never throws. */
function sweep(app: App): boolean {
  try {
    if (!claimHour(sweepHourlyClaim(app.home, app.now()))) return false
    faultPoint('SWEEP_CLAIMED')
    const limit = startTimeLimit(SWEEP_MS)
    const { planned, left } = app.engine.planUnarchived({ first: 'oldest', most: MOST_SWEPT, isOver: limit.isOver })
    if (planned.length + left.length > 0)
      app.log('info', 'sessions that ended without a signal were archived', {
        sessions: planned.length,
        left: left.length,
      })
    faultPoint('SWEEP_PLANNED')
    return true
  } catch (error) {
    app.log('error', 'sessions that ended without a signal could not be archived', { reason: reasonOf(error) })
    return false
  }
}

/** Sends notices to the user outside the client, in a background process. */
export async function sendStoredNotices(app: App): Promise<void> {
  const { store, now, log, policyOf } = app
  const changes = watchFolders([dirname(app.home.store)])
  const sessionOf = (sessionId: string | null) => (sessionId === null ? null : store.session(sessionId))
  try {
    await sendNotices({
      store,
      now,
      log,
      changes,
      // Not the project's folder: programs read settings from the folder where they are started.
      // A repository may contain such settings.
      cwd: homedir(),
      env: withoutClientVariables(process.env),
      terminalOf(notice) {
        const client = sessionOf(notice.sessionId)?.process ?? null
        if (notice.terminal !== null || client === null) return notice.terminal
        return isAlive(client) ? terminalOf(client.pid) : null
      },
      isConfigured({ subject, target }) {
        return policyOf(subject).policy.notify.some((one) => sameTarget(one, target))
      },
      continues({ sessionId }) {
        const session = sessionOf(sessionId)
        return (session && agents[session.agent]?.continuesAfterLimit?.(session)) ?? null
      },
      async isServed() {
        const server = await connectToServer(app.home.server)
        server?.socket.destroy()
        return server !== null
      },
      wakeAt: (time) => startLater(time, app),
    })
  } finally {
    changes.close()
  }
}

/**
 * Shell script that waits for a time and then starts the notifier.
 * A sleeping shell costs one megabyte, this process fifty.
 * The shell checks the clock every five minutes, because a sleep does not count suspended time.
 * The shell ends when the store is gone, because a purged home must not be created again.
 */
const WAIT = `
while n=$(($1 - $(date +%s))) && [ "$n" -gt 0 ] && [ -e "$4" ]; do sleep $((n < 300 ? n : 300)); done
[ -e "$4" ] && exec "$2" "$3" notify`

function startLater(time: string, { home, log }: Pick<App, 'home' | 'log'>): void {
  const seconds = String(Math.ceil(Date.parse(time) / 1000))
  const args = ['-c', WAIT, 'baton-notify', seconds, process.execPath, process.argv[1]!, home.store]
  const child = spawn('/bin/sh', args, { detached: true, stdio: 'ignore', cwd: '/' })
  child.once('error', (error) =>
    log('error', 'no process could be started that waits for a later notice', { reason: reasonOf(error) }),
  )
  child.unref()
}
