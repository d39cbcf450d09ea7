import type { Paint } from '../policy/status-text.js'

const CODES = { green: '32', yellow: '33', red: '31', dim: '2' } as const

/** The client shows colours in its status line; NO_COLOR is the person's word against it. */
export const COLOURS: Paint = (text, colour) => (text === '' ? '' : `\u001b[${CODES[colour]}m${text}\u001b[0m`)
export const WITHOUT_COLOURS: Paint = (text) => text
