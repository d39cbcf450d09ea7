import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { configDirOf } from '../agents/claude-code/settings.js'
import { archivePlaces } from '../archive/places.js'
import { around } from '../around.js'
import { readBrief } from '../briefs/read-brief.js'
import { loadConfig } from '../config/load-config.js'
import { policyFor } from '../config/policy-for.js'
import { RUNTIMES } from '../contract/job.js'
import { isUndriven } from '../engine/look-at-handoffs.js'
import { openHouse } from '../house.js'
import type { Instruments } from '../install/doctor/patient.js'
import type { Home } from '../lib/home.js'
import { machineKey } from '../lib/machine-key.js'
import { typable } from '../message-typist.js'
import { isSilent } from '../policy/silence.js'
import { shownBy } from '../shown.js'
import { openDatabase } from '../store/sqlite/driver.js'
import { explained } from '../store/sqlite/explain.js'
import { clientVersion } from './client-version.js'
import { findProgram } from './find-program.js'
import { openRuntime } from './jobs/open-runtime.js'
import { prepareHome } from './prepare-home.js'

/** What doctor borrows from rooms it does not know. */
export function instruments(home: Home, env: Record<string, string | undefined>): Instruments {
  return {
    loadConfig,
    openHouse(of) {
      const house = openHouse({ env: of, loadConfig, around: () => around, busyMs: 2_000 })
      return { ...house, ...shownBy(house) }
    },
    openDatabase: (path, options) => explained(openDatabase(path, options), path),
    archiveFiles(house) {
      const { folder } = archivePlaces(home.root)
      const all = house.store.segments()
      const gone = all.filter(({ file, storedBytes }) => sizeOf(join(folder, file)) !== storedBytes)
      return { all: all.length, gone: gone.map(({ file }) => join(folder, file)) }
    },
    isGenuine: ({ path, sha256 }) => existsSync(home.key) && readBrief(path, machineKey(home.key), sha256).verdict === 'genuine',
    forks(folder) {
      const { config } = loadConfig({ home, project: folder, env })
      return policyFor(config, { agent: 'claude-code', project: folder, model: null, seat: null }).handoff.fork
    },
    isUndriven,
    async typable(pid, sessionId) {
      const configDir = configDirOf(env as Record<string, string>)
      return configDir !== null && typable({ pid, configDir, sessionId })
    },
    isSilent,
    prepareHome: () => prepareHome(home, env),
    findProgram: (name) => findProgram(name, env),
    clientVersion: () => clientVersion(env),
    runtimes: (folder) =>
      Promise.all(
        RUNTIMES.map(async (name) => ({
          name,
          missing: (await openRuntime(name, folder, { env: { PATH: env.PATH } })).missing(),
        })),
      ),
  }
}

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null
