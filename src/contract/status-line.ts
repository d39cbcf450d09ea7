/** The parts of the status line, in the order the documentation lists them. */
export const SEGMENTS = [
  'gauge',
  'tokens',
  'forecast',
  'level',
  'handoff',
  'model',
  'branch',
  'cost',
  'limits',
  'seat',
] as const
export type Segment = (typeof SEGMENTS)[number]

/** `bar`: a drawn gauge. `ascii`: the same without characters beyond ASCII. `text`: the figure without a bar. */
export const STATUS_STYLES = ['bar', 'ascii', 'text'] as const
export type StatusStyle = (typeof STATUS_STYLES)[number]

/** The segments of the status line and their form. */
export interface StatusLineSettings {
  /** In the order they are shown; one without anything to tell is left out. */
  segments: Segment[]
  /** Most columns of Baton's part; null: as many as it needs. The last segments are left out first. */
  width: number | null
  style: StatusStyle
}
