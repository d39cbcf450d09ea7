import { lstatSync, readFileSync } from 'node:fs'

/**
 * Places where a test can hold a process, because the moment is too short to catch from outside.
 *
 * ARCHIVE_SEGMENT  a segment of an archive is written but not renamed yet
 * DRIVER_READY     a driver is ready to type for a handoff whose brief is not written yet
 * DRIVER_TYPING    a driver has stored that it types but pressed no key yet
 * DRIVER_ENTER     the text is in the input field but Enter is not pressed yet
 * DRIVER_CLEARED   the client has executed `/clear` but the driver has not stored that yet
 * DRIVER_PROMPTED  the client has accepted the prompt but the driver has not stored that yet
 * SWEEP_CLAIMED    a sweep has claimed its hour but planned nothing yet
 * SWEEP_PLANNED    a sweep has planned archives but copied nothing yet
 * NOTICE_CLAIMED   a process has stored that it sends a notice but has not sent it yet
 * NOTICE_SENT      the target has accepted a notice but that is not stored yet
 * JOB_CALL         a job's client asks to execute a call that is not in the journal yet
 *
 * A driver is the process that types into a terminal.
 * A sweep is the hourly search for sessions that must be archived.
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
 * Blocks this process until a writer of the FIFO in `BATON_FAULT_<point>` closes the FIFO.
 * Does nothing when the variable is not set, which is always the case outside tests.
 */
export function faultPoint(point: FaultPoint): void {
  const fifo = process.env[`BATON_FAULT_${point}`]
  if (fifo === undefined) return
  try {
    // Only a FIFO of this user is read, as another file could be endless or fill the memory.
    const stat = lstatSync(fifo)
    if (!stat.isFIFO() || stat.uid !== process.getuid?.()) return
    readFileSync(fifo)
  } catch {
    // The test removed the FIFO to let every process pass.
  }
}
