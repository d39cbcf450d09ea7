export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan'
export type Paint = (text: string, colour: Colour) => string

/** The properties of an output that texts are rendered for. */
export interface Screen {
  /** False for a pipe or a file. */
  terminal: boolean
  /** Width in cells. Unlimited without a terminal. */
  columns: number
  rows: number
  paint: Paint
}

const CODES: Record<Colour, string> = { green: '32', yellow: '33', red: '31', cyan: '36', dim: '2', bold: '1' }

export const plain: Paint = (text) => text
export const coloured: Paint = (text, colour) => (text === '' ? '' : `\u001b[${CODES[colour]}m${text}\u001b[0m`)

/** Returns the properties of a stream. Colours need a terminal that has them and no NO_COLOR. */
export function screenOf(
  stream: { isTTY?: boolean; columns?: number; rows?: number },
  env: Record<string, string | undefined>,
): Screen {
  const terminal = stream.isTTY === true
  const colours = terminal && !env.NO_COLOR && env.TERM !== 'dumb'
  return {
    terminal,
    columns: terminal ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    rows: terminal ? stream.rows || 24 : Number.POSITIVE_INFINITY,
    paint: colours ? coloured : plain,
  }
}
