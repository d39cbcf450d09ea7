/**
 * Returns the summary without the summariser's analysis, as the client uses it.
 * The summariser writes `<analysis>` before `<summary>`.
 * Claude Code 2.1.325 passes both parts to hooks and modules, but only the second to the model.
 * Null when no text remains.
 */
export function summaryText(written: string | null): string | null {
  if (written === null) return null
  const rest = written.replace(/<analysis>[\s\S]*?<\/analysis>/g, '')
  const summary = /<summary>([\s\S]*?)(?:<\/summary>|$)/.exec(rest)?.[1] ?? rest
  return summary.trim() || null
}
