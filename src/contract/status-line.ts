/** The segments of the status line, in the order the documentation lists them. */
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

/**
 * bar: a drawn gauge. ascii: the same with ASCII characters only. text: the number without a bar.
 */
export const STATUS_STYLES = ['bar', 'ascii', 'text'] as const
type StatusStyle = (typeof STATUS_STYLES)[number]

/** The segments of the status line and their form. */
export interface StatusLineSettings {
  /** Segments in the order they are shown. A segment without content is left out. */
  segments: Segment[]
  /**
   * Maximum width in columns; the last segments are left out first. Null when there is no limit.
   */
  width: number | null
  style: StatusStyle
}
