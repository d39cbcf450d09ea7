import { call } from './api.js'
import { keepKey } from './key.js'
import { toast } from './parts/toast.js'

/** The ticket in the address, taken out of it at once: it stays in no history and is sent to nobody but `/api/enter`. */
export function takeTicket(): string | null {
  if (!location.hash.startsWith('#ticket=')) return null
  const ticket = location.hash.slice('#ticket='.length)
  history.replaceState(null, '', location.pathname + location.search)
  return ticket === '' ? null : ticket
}

export async function enter(proof: { ticket: string } | { token: string }): Promise<void> {
  const { key } = await call('enter', { body: proof })
  if (!keepKey(key)) toast('This browser keeps no key: it is let in until the page is loaded again.')
}
