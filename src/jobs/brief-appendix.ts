import { join } from 'node:path'
import { toQuotation } from '../briefs/format-lines.js'
import type { BriefRecord } from '../contract/records/brief.js'
import type { AttemptRecord } from '../contract/records/job.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import type { GitState } from '../lib/git-state.js'
import { listCalls } from './call-list.js'
import type { BriefAppendix, JobDependencies } from './dependencies.js'
import { type KnownCall, knownCalls, readJournal } from './journal.js'

export const CALLS_TITLE = 'Calls already made'
/** Returns the path of the file with calls that do not fit into a session's brief. */
export const callsFile = (folder: string, number: number): string => join(folder, `calls-${number}.md`)
const LONGEST_BRIEF = 12_000

/**
 * Returns the calls of a job since the last brief that an agent wrote, and that brief.
 * Facts of a transcript do not list successful commands, and cover one session only.
 * An agent with only those facts would repeat every step.
 */
export function briefAppendix(
  deps: JobDependencies,
  { jobId, folder, journal }: { jobId: string; folder: string; journal: string },
  attempt: AttemptRecord,
): BriefAppendix {
  const attempts = deps.store.attempts(jobId).filter(({ state }) => state !== 'ready')
  const written = findLastAgentBrief(deps, attempts)
  const since = written?.attempt.number ?? 0
  const before = new Set(attempts.filter(({ number }) => number < since).map(({ sessionId }) => sessionId))
  const lines = readJournal(journal).filter(({ sessionId }) => !before.has(sessionId))
  const sessions = new Set([...lines.map(({ sessionId }) => sessionId), attempt.sessionId])
  const calls = [...sessions].flatMap((sessionId): KnownCall[] =>
    knownCalls(lines, sessionId, deps.returnedCalls(sessionId)),
  )
  const earlier = written === null ? '' : briefSection(written.brief, deps.briefs.read(written.brief))
  if (calls.length === 0) return { text: earlier, calls: [], path: null }
  const { all, shown } = listCalls(calls)
  const left = all.length - shown.length
  const path = left === 0 ? null : callsFile(folder, attempt.number)
  if (path !== null) writeFileAtomic(path, `# ${CALLS_TITLE}\n\n${MEANING}\n\n${all.join('\n')}\n`, { mode: 0o600 })
  const section = [
    `## ${CALLS_TITLE}\n`,
    `From Baton's journal of the job, oldest first${earlier === '' ? '' : ', since the brief above'}. ${MEANING}`,
    ...(path === null ? [] : [`\nRead ${path} before you begin: it lists ${left} more calls.`]),
    `\n${shown.join('\n')}\n`,
  ].join('\n')
  return { text: [earlier, section].filter((part) => part !== '').join('\n'), calls: all, path }
}

const MEANING = [
  '"done": it returned; repeat it only to read its output.',
  '"failed": it returned with an error.',
  '"outcome unknown": it was cut off; check what it did before you repeat it.',
  '"not started": it never ran.',
].join(' ')

/** Returns the last session that began with a brief written by an agent. Null when none did. */
function findLastAgentBrief(
  { store }: JobDependencies,
  attempts: readonly AttemptRecord[],
): { attempt: AttemptRecord; brief: BriefRecord } | null {
  for (const attempt of attempts.toReversed()) {
    const brief = attempt.briefId === null ? null : store.brief(attempt.briefId)
    if (brief !== null && brief.author !== 'baton') return { attempt, brief }
  }
  return null
}

function briefSection({ path, sequence }: BriefRecord, text: string | null): string {
  if (text === null) return ''
  const intro = `Brief ${sequence} of an earlier session (${path}). Work that it calls done is done.`
  return `## The last brief that an agent wrote\n\n${intro}\n\n${toQuotation(text, LONGEST_BRIEF)}\n`
}

const MOST_FILES = 40
const MOST_COMMITS = 5

/** Describes a repository in a few lines for a fresh session. Null without a repository. */
export function repositoryText(state: GitState | null): string | null {
  if (state === null) return null
  const { branch, commit, recent, dirty, ahead } = state
  const at = commit === null ? 'without any commit' : `at ${commit.slice(0, 9)}`
  const lines = [
    `${branch === null ? 'No branch' : `Branch ${branch}`}, ${at}.${ahead ? ` ${ahead} commits are not pushed.` : ''}`,
  ]
  if (recent.length > 0)
    lines.push('The last commits:', ...recent.slice(0, MOST_COMMITS).map(({ id, subject }) => `- ${id} ${subject}`))
  if (dirty.length === 0) lines.push('There are no uncommitted changes.')
  else {
    const more = dirty.length > MOST_FILES ? [`- and ${dirty.length - MOST_FILES} more`] : []
    lines.push('Not committed:', ...dirty.slice(0, MOST_FILES).map((path) => `- ${path}`), ...more)
  }
  return lines.join('\n')
}
