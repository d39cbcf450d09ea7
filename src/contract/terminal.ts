/** The state that a running client reports about itself. */
export interface ClientStatus {
  pid: number
  sessionId: string
  status: 'idle' | 'busy' | 'waiting' | 'unknown'
  /** The thing that the client waits for, in its own words. Null when it does not wait. */
  waitingFor: string | null
  /** The tmux pane of the client. Null outside tmux. */
  tmux: { pane: string } | null
}

/** How Baton reads the terminal of the client it types into. Each agent implements it. */
export interface Terminal {
  /**
   * Reads the client's state. Null when the client has ended.
   * The typing process calls the function again before each keystroke or paste.
   */
  live(): ClientStatus | null
  /**
   * Reads the client's input field from the screen.
   * `unknown`: the screen could not be understood.
   */
  composer(
    screen: string,
    cursor: { x: number; y: number },
  ):
    | { state: 'empty' }
    | { state: 'draft'; text: string; caret: number | null; menu: string | null }
    | { state: 'unknown'; why: string }
  /**
   * Finds a pasted text in the input field, and how many Backspace keys behind it delete it.
   * Null when the text is not there.
   */
  findPasted(draft: string, text: string): { before: string; after: string; keys: number } | null
}
