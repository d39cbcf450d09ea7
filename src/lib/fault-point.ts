import { lstatSync, readFileSync } from 'node:fs'

/**
 * Moments that are too short to be caught from outside, and that a test must hold to kill the
 * process there.
 *
 * ARCHIVE_SEGMENT  a segment of an archive is written, but does not have its name yet
 * DRIVER_READY     a driver stands ready to type for a handoff, whose brief is not there yet
 * DRIVER_TYPING    a driver has stored that it types, and has not pressed a key
 * DRIVER_ENTER     the text stands in the composer, and Enter is not pressed
 * DRIVER_CLEARED   the client has taken `/clear`, and the driver has not stored that
 * DRIVER_PROMPTED  the client has taken the prompt, and the driver has not stored that
 * SWEEP_CLAIMED    a sweep has its turn, and has planned nothing
 * SWEEP_PLANNED    a sweep has planned archives, and copied nothing
 * NOTICE_CLAIMED   a process has stored that it sends a notice, and has not sent it
 * NOTICE_SENT      the target has taken a notice, and that is not stored
 * JOB_CALL         the client of a job asks whether it may make a call, which is not in the journal yet
 */
export type FaultPoint =
  | 'ARCHIVE_SEGMENT'
  | 'DRIVER_READY'
  | 'DRIVER_TYPING'
  | 'DRIVER_ENTER'
  | 'DRIVER_CLEARED'
  | 'DRIVER_PROMPTED'
  | 'SWEEP_CLAIMED'
  | 'SWEEP_PLANNED'
  | 'NOTICE_CLAIMED'
  | 'NOTICE_SENT'
  | 'JOB_CALL'

/**
 * Blocks this process while the FIFO that `BATON_FAULT_<point>` names has no writer, or one that
 * has not closed it. Does nothing where the variable is not set, as everywhere but in tests.
 */
export function faultPoint(point: FaultPoint): void {
  const fifo = process.env[`BATON_FAULT_${point}`]
  if (fifo === undefined) return
  try {
    // Anything else could be endless, or fill the memory.
    const stat = lstatSync(fifo)
    if (!stat.isFIFO() || stat.uid !== process.getuid?.()) return
    readFileSync(fifo)
  } catch {
    // The test has removed it to let everything pass.
  }
}
