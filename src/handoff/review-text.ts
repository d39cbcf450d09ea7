export interface Reviewed {
  briefId: string
  path: string
  /** ISO; null: it waits until somebody approves it. */
  dueAt: string | null
}

/** What a person is told in the client when a brief waits for them. */
export function reviewText({ briefId, path, dueAt }: Reviewed): string {
  const when = dueAt === null ? 'It waits for your approval' : `It is used by itself at ${clockTime(dueAt)} unless you object`
  return `[baton] A brief for a fresh session is ready: ${path}. ${when}: baton handoffs approve ${briefId} uses it now, baton handoffs edit ${briefId} changes it, baton handoffs cancel ${briefId} drops it.`
}

/** As the clock on the wall shows it: `14:05:30`. */
export function clockTime(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}
