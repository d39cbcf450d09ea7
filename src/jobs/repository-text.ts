import type { GitState } from '../lib/git-state.js'

const MOST_FILES = 40
const MOST_COMMITS = 5

/** A repository in a few lines, as a fresh session reads it; null: there is none. */
export function repositoryText(state: GitState | null): string | null {
  if (state === null) return null
  const { branch, commit, recent, dirty, ahead } = state
  const at = commit === null ? 'without any commit' : `at ${commit.slice(0, 9)}`
  const lines = [
    `${branch === null ? 'No branch' : `Branch ${branch}`}, ${at}.${ahead ? ` ${ahead} commits are not pushed.` : ''}`,
  ]
  if (recent.length > 0)
    lines.push('The last commits:', ...recent.slice(0, MOST_COMMITS).map(({ id, subject }) => `- ${id} ${subject}`))
  if (dirty.length === 0) lines.push('Nothing is uncommitted.')
  else {
    const more = dirty.length > MOST_FILES ? [`- and ${dirty.length - MOST_FILES} more`] : []
    lines.push('Not committed:', ...dirty.slice(0, MOST_FILES).map((path) => `- ${path}`), ...more)
  }
  return lines.join('\n')
}
