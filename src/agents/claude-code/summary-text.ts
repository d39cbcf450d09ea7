/**
 * The summary as the client passes it on. The summariser writes `<analysis>` before `<summary>`;
 * Claude Code 2.1.325 tells hooks and mods both, but gives the model only what stands in the
 * second. Null when no text is left.
 */
export function summaryText(told: string | null): string | null {
  if (told === null) return null
  const rest = told.replace(/<analysis>[\s\S]*?<\/analysis>/g, '')
  const summary = /<summary>([\s\S]*?)(?:<\/summary>|$)/.exec(rest)?.[1] ?? rest
  return summary.trim() || null
}
