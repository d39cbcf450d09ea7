/** The state that a running client reports about itself. */
export interface Live {
  pid: number
  sessionId: string
  status: 'idle' | 'busy' | 'waiting' | 'unknown'
  waitingFor: string | null
  tmux: { pane: string } | null
}

/** What the channel has to know of the client whose terminal it types into; its agent's folder knows how. */
export interface Terminal {
  /** Asked again right before each step. null: it is gone. */
  live(): Live | null
  composer(
    screen: string,
    cursor: { x: number; y: number },
  ):
    | { state: 'empty' }
    | { state: 'draft'; text: string; caret: number | null; menu: string | null }
    | { state: 'unknown'; why: string }
  /** Where a pasted text stands in a draft, and how many times BSpace behind it takes it away; null: it is not there. */
  findPasted(draft: string, text: string): { before: string; after: string; keys: number } | null
}
