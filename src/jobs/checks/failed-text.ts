import type { CheckResult } from '../../contract/job.js'

const MOST_EACH = 4_000
const MOST_ALL = 12_000
const MOST_NAMED = 20

/** What the agent is told when checks failed; '' when none did. */
export function failedText(results: readonly CheckResult[]): string {
  const failed = results.filter(({ ok }) => !ok)
  if (failed.length === 0) return ''
  const passed = results.length - failed.length
  const each = Math.min(MOST_EACH, Math.floor(MOST_ALL / Math.min(failed.length, MOST_NAMED)))
  const more = failed.length - MOST_NAMED
  return [
    `[baton] You said the work is done, but ${failed.length} of ${results.length} checks ${failed.length === 1 ? 'fails' : 'fail'}.`,
    ...failed.slice(0, MOST_NAMED).map((result) => partOf(result, each)),
    ...(more > 0 ? [`And ${more} more.`] : []),
    `${passed > 0 ? `The other ${passed === 1 ? 'one passes' : `${passed} pass`}. ` : ''}Mend what they show, do not change the checks, and say so when it is done; they are run again then.`,
  ].join('\n\n')
}

function partOf(result: CheckResult, most: number): string {
  const title = result.name === result.command ? `\`${cut(result.command)}\`` : `${cut(result.name)} (\`${cut(result.command)}\`)`
  const said = result.tail.length <= most ? result.tail : `…${result.tail.slice(-most)}`
  const end = said.trim() === '' ? 'It printed nothing.' : `The end of what it printed:\n${fenced(said.trim())}`
  return `${title} ${outcome(result)}. ${end}\nAll of it: ${result.outputPath}`
}

function outcome({ exitCode, timedOut, durationMs }: CheckResult): string {
  if (timedOut) return `did not end within ${Math.round(durationMs / 1_000)} s`
  return exitCode === null ? 'could not be run to its end' : `exited with ${exitCode}`
}

/** What a check prints may hold fences of its own. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`
}
