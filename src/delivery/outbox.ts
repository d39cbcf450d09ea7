import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeliveredAnswer, Outbox, PreparedAnswer } from '../contract/outbox.js'
import { errorCodeOf } from '../lib/errors.js'
import { readNamedText } from '../lib/named-file.js'
import { scaleTimeout } from '../lib/patience.js'

const IN_FLIGHT_MS = 3_000
/**
 * Time for which a far mark holds. A far mark tells hooks that no level is near.
 * Without a server, the figures of a session are at most this old.
 * Hooks trust a killed server for at most this time.
 */
const FAR_MS = 10_000

/**
 * Answers for the next hook of a session when no server runs.
 * The launcher has only milliseconds and cannot open the store, so the engine writes a folder
 * `<session>` with one prepared answer per event.
 * The launcher claims the folder by renaming it to `<session>.taken.<pid>`: only one can win.
 * The launcher prints the answer and then writes a mark, `given.<event>`.
 * A claimed folder without a mark is a killed launcher's. After 3 seconds it is undelivered.
 * Called inside a store transaction, so that two engines never write at once.
 * After the commit, marks are removed and answers are written for stored messages.
 */
export function folderOutbox(dir: string, now: () => Date): Outbox {
  const listIn = (folder: string, name: string): string[] | null => {
    try {
      return readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return null
      throw error
    }
  }
  const idsIn = (folder: string): string[] => listIn(folder, 'ids') ?? []
  /**
   * Returns the ids delivered for an event.
   * Folders of earlier versions have one list for all events.
   */
  const idsGiven = (folder: string, event: string): string[] => listIn(folder, `ids.${event}`) ?? idsIn(folder)

  /** Lists the files of a folder. Null when another engine has just removed it. */
  const filesIn = (folder: string): string[] | null => {
    try {
      return readdirSync(folder)
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  /** Writes a mark. An empty text removes it. */
  const setMark = (name: string, text: string): void => {
    const mark = join(dir, name)
    if ((readMark(mark) ?? '\n') === `${text}\n` && (text !== '' || !existsSync(mark))) return
    // Anything else than a file is replaced, such as a pipe, which would hold the store's lock.
    rmSync(mark, { recursive: true, force: true })
    if (text !== '') {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      writeFileSync(mark, `${text}\n`, { mode: 0o600 })
    }
  }

  const unfinishedFolder = (sessionId: string): string => join(dir, `.${fileName(sessionId)}.${process.pid}`)

  return {
    collect(sessionId) {
      const name = fileName(sessionId)
      const given: DeliveredAnswer[] = []
      const inFlight: string[] = []
      if (!existsSync(dir)) return { given, inFlight }
      takeAway(join(dir, name), unfinishedFolder(sessionId))
      for (const entry of readdirSync(dir)) {
        if (!entry.startsWith(`${name}.taken.`)) continue
        const folder = join(dir, entry)
        const files = filesIn(folder)
        if (files === null) continue
        const mark = files.find((file) => file.startsWith('given.'))
        const event = mark?.slice('given.'.length)
        if (event !== undefined) {
          const at = statSync(join(folder, `given.${event}`), { throwIfNoEntry: false })?.mtimeMs ?? 0
          given.push({ event, ids: idsGiven(folder, event), at, mark: folder })
        } else if (now().getTime() - (statSync(folder, { throwIfNoEntry: false })?.ctimeMs ?? 0) < IN_FLIGHT_MS)
          inFlight.push(...idsIn(folder))
        else rmSync(folder, { recursive: true, force: true })
      }
      return { given, inFlight }
    },

    forget(given) {
      for (const { mark } of given) rmSync(mark, { recursive: true, force: true })
    },

    contains: (sessionId, answers) => idsIn(join(dir, fileName(sessionId))).join() === allIds(answers).join(),

    markNear(sessionId, events) {
      setMark(`${fileName(sessionId)}.near`, events.join(' '))
      setMark(`${fileName(sessionId)}.far`, '')
    },

    markFar(sessionId, far) {
      const name = `${fileName(sessionId)}.far`
      const until = Math.floor((now().getTime() + scaleTimeout(FAR_MS)) / 1000)
      if (far === null) {
        setMark(name, '')
        setMark(`${fileName(sessionId)}.batch`, '')
      }
      // A mark that holds long enough is kept, because every batch of a session comes here.
      else if (until - farUntil(join(dir, name), far.below) > scaleTimeout(FAR_MS) / 2000)
        setMark(name, `${far.below} ${until} ${far.level}`)
    },

    store(sessionId, answers) {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const unfinished = unfinishedFolder(sessionId)
      rmSync(unfinished, { recursive: true, force: true })
      mkdirSync(unfinished, { mode: 0o700 })
      const put = (name: string, text: string): void => writeFileSync(join(unfinished, name), text, { mode: 0o600 })
      put('ids', `${allIds(answers).join('\n')}\n`)
      for (const { event, text, ids } of answers) {
        put(event, text)
        put(`ids.${event}`, `${ids.join('\n')}\n`)
      }
      renameSync(unfinished, join(dir, fileName(sessionId)))
    },
  }
}

const LONGEST_MARK = 4096

/** Reads a mark. Null when there is none. */
const readMark = (mark: string): string | null => readNamedText(mark, { owner: 'this-user', most: LONGEST_MARK })

/** Returns until when a mark with this figure holds, in seconds. 0 when there is no such mark. */
function farUntil(mark: string, below: number): number {
  const [figure, until] = readMark(mark)?.split(' ') ?? []
  return figure === String(below) ? Number(until) : 0
}

const allIds = (answers: readonly PreparedAnswer[]): string[] => [...new Set(answers.flatMap(({ ids }) => ids))]

/** Renames a folder before removing it, so that no launcher claims a half-removed one. */
function takeAway(folder: string, aside: string): void {
  rmSync(aside, { recursive: true, force: true })
  try {
    renameSync(folder, aside)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return
    throw error
  }
  rmSync(aside, { recursive: true, force: true })
}

/**
 * Returns a safe file name.
 * Session ids come from outside, so only harmless characters may reach a path.
 * The launcher removes the same characters and shortens the id in the same way.
 */
export function fileName(sessionId: string): string {
  const name = sessionId.replace(/[^A-Za-z0-9_-]/g, '') || 'unknown'
  return name.length > 120 ? name.slice(0, 100) + name.slice(-20) : name
}
