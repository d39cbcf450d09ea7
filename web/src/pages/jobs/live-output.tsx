import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { JobLogPart } from '../../../../src/contract/api/jobs.js'
import { type CallProblem, call, problemFrom } from '../../api/call-api.js'
import { useKey } from '../../api/key.js'
import { useLive } from '../../live/use-live.js'
import { Command } from '../../parts/copy-button.js'
import { clockText, exactText, groupedText, plural } from '../../parts/format.js'
import { Problem, Skeleton } from '../../parts/page-states.js'

/** So near the end, the end is what is looked at. */
const NEAR = 40
/** A scroll so soon after a wheel, a key, a finger or a button is a person's, and so is what follows it. */
const BY_HAND_MS = 400

/** What the job's clients say, as it comes. Stays at the end until somebody scrolls up. */
export function LiveOutput({ jobId, atWork }: { jobId: string; atWork: boolean }) {
  const { log, read, problem, again } = useJobLog(jobId, atWork)
  const box = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  const follows = useRef(true)
  const lastTop = useRef(0)
  const touched = useRef(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are the reason to go to the end
  useLayoutEffect(() => {
    if (follows.current) toEnd(box.current)
  }, [log])
  useEffect(() => {
    const element = box.current
    if (element === null) return
    // Lines that were only guessed at get their true height when they are drawn.
    const grown = new ResizeObserver(() => follows.current && toEnd(element))
    for (const child of element.children) grown.observe(child)
    return () => grown.disconnect()
  })
  const touch = (): void => {
    touched.current = performance.now()
  }
  const scrolled = (): void => {
    const { scrollHeight, scrollTop, clientHeight } = box.current!
    const byHand = performance.now() - touched.current < BY_HAND_MS
    if (byHand) touch()
    // Only a person who goes up wants to stay there: lines that get their true height, and windows that change, move things too.
    if (scrollHeight - scrollTop - clientHeight < NEAR) follows.current = true
    else if (byHand && scrollTop < lastTop.current) follows.current = false
    lastTop.current = scrollTop
    setFollowing(follows.current)
  }
  const goToEnd = (): void => {
    follows.current = true
    setFollowing(true)
    toEnd(box.current)
  }
  if (problem !== null && log.count === 0) return <Problem problem={problem} again={again} />
  if (!read && log.count === 0) return <Skeleton lines={4} label="Reading the output" />
  if (log.count === 0) return <p className="quiet">{atWork ? 'Nothing was said yet.' : 'Nothing was said.'}</p>
  const hidden = countDropped(log)
  return (
    <div className="output">
      {problem !== null && <Problem problem={problem} again={again} />}
      {hidden > 0 && (
        <div className="output-note quiet">
          <span>The first {groupedText(hidden)} lines are left out here.</span>{' '}
          <Command text={`baton jobs logs ${jobId}`} />
        </div>
      )}
      <div
        className="output-box"
        ref={box}
        onScroll={scrolled}
        onWheel={touch}
        onTouchMove={touch}
        onPointerDown={touch}
        onKeyDown={touch}
        role="log"
        aria-live="off"
        aria-label="Output of the job"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <div className="output-lines">
          {log.chunks.map((chunk) => (
            <Chunk key={chunk.first} chunk={chunk} />
          ))}
        </div>
      </div>
      {!following && (
        <button type="button" className="button output-end" onClick={goToEnd}>
          To the end
        </button>
      )}
    </div>
  )
}

function toEnd(box: HTMLElement | null): void {
  if (box !== null) box.scrollTop = box.scrollHeight
}

const Chunk = memo(function Chunk({ chunk: { first, lines } }: { chunk: LogChunk }) {
  return (
    <div className="output-chunk" style={{ containIntrinsicBlockSize: `auto ${lines.length * 20}px` }}>
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of a log never moves
        <Line key={first + place} line={line} before={place === 0 ? null : lines[place - 1]!} />
      ))}
    </div>
  )
})

const MARKS: Record<LogLine['kind'], string> = { agent: '', call: '→', result: '←', baton: '·', other: '›' }

function Line({ line, before }: { line: LogLine; before: LogLine | null }) {
  const { at, kind, ok } = line
  const clock = at === null ? null : clockText(at)
  const isNew = clock !== null && (before?.at == null || clockText(before.at) !== clock)
  return (
    <div className="output-line" data-kind={kind} data-failed={!ok || undefined}>
      <span className="output-time">
        {isNew && (
          <time dateTime={at!} title={exactText(at!)}>
            {clock}
          </time>
        )}
      </span>
      <span className="output-mark" aria-hidden="true">
        {ok ? MARKS[kind] : '✗'}
      </span>
      <span className="output-text">
        {!ok && <span className="unseen">failed: </span>}
        {kind === 'agent' || kind === 'baton' ? line.text : <Folded text={line.text} />}
      </span>
    </div>
  )
}

/** What tools gave back is long, and mostly looked past. */
const SHOWN = 6

function Folded({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  const lines = text.split('\n')
  if (text.trim() === '') return '(no output)'
  if (open || lines.length <= SHOWN + 1) return text
  return (
    <>
      {lines.slice(0, SHOWN).join('\n')}
      {'\n'}
      <button type="button" className="output-more" onClick={() => setOpen(true)}>
        {plural(lines.length - SHOWN, 'more line')}
      </button>
    </>
  )
}

export type LogLine = JobLogPart['lines'][number]

/** Lines that are drawn together: one that is full never changes again, so that it is never drawn again either. */
interface LogChunk {
  /** The number of its first line, from 0 over the whole log: its name. */
  first: number
  lines: readonly LogLine[]
}

export interface LogState {
  chunks: readonly LogChunk[]
  /** How many lines were heard, those left out again among them. */
  count: number
  /** Where to read on; null: nothing was read. */
  next: string | null
  /** There is more right now. */
  more: boolean
}

export const EMPTY_LOG: LogState = { chunks: [], count: 0, next: null, more: true }
export const CHUNK = 100
/** What a page keeps of a log; `baton jobs logs` has all of it. */
export const MAX_LINES = 20_000

export function appendLog(state: LogState, part: JobLogPart): LogState {
  const { next, more } = part
  if (part.lines.length === 0) return { ...state, next, more }
  const chunks = [...state.chunks]
  let count = state.count
  for (let at = 0; at < part.lines.length; ) {
    const last = chunks.at(-1)
    const room = last === undefined ? 0 : CHUNK - last.lines.length
    const taken = part.lines.slice(at, at + (room || CHUNK))
    if (last !== undefined && room > 0) chunks[chunks.length - 1] = { ...last, lines: [...last.lines, ...taken] }
    else chunks.push({ first: count, lines: taken })
    at += taken.length
    count += taken.length
  }
  return { chunks: chunks.slice(-MAX_LINES / CHUNK), count, next, more }
}

/** How many of the first lines are left out. */
export const countDropped = ({ chunks }: LogState): number => chunks[0]?.first ?? 0

interface LogReader {
  /** There may be more: it is read on to the end. While it is being read, that is done once more behind it. */
  readOn(): void
  /** Nothing is told any more. */
  stop(): void
}

interface Reading {
  /** What stands behind `after`; null: from the beginning. */
  part(after: string | null, signal: AbortSignal): Promise<JobLogPart>
  /** After every part. `read`: that was the end. */
  told(log: LogState, read: boolean): void
  failed(error: unknown): void
}

/** Reads a log part by part, one at a time: a part that takes long is waited for, whatever happens meanwhile. It goes on behind `from`. */
export function makeLogReader({ part, told, failed }: Reading, from: LogState = EMPTY_LOG): LogReader {
  const stopped = new AbortController()
  let log = from
  let isReading = false
  let isWanted = false

  const toTheEnd = async (): Promise<void> => {
    isReading = true
    try {
      do {
        isWanted = false
        log = appendLog(log, await part(log.next, stopped.signal))
        if (stopped.signal.aborted) return
        told(log, !log.more)
      } while (log.more || isWanted)
    } catch (error) {
      if (!stopped.signal.aborted) failed(error)
    } finally {
      isReading = false
    }
  }

  return {
    readOn() {
      isWanted = true
      if (!isReading && !stopped.signal.aborted) void toTheEnd()
    },
    stop: () => stopped.abort(),
  }
}

/** A client says things between two events of its job: while it works it is listened to more often. */
const EVERY_MS = 1_000

/**
 * The log of a job, read to its end, and on when the job tells something. `atWork`: its clients may say something at any time. It is of one
 * job as long as it is used: another job is another component.
 */
function useJobLog(
  jobId: string,
  atWork: boolean,
): { log: LogState; read: boolean; problem: CallProblem | null; again: () => void } {
  const key = useKey()
  const epoch = useLive((live) => live.epoch)
  const told = useLive((live) => live.feed.findLast((event) => event.job_id === jobId)?.id ?? 0)
  const [turn, setTurn] = useState(0)
  const [log, setLog] = useState(EMPTY_LOG)
  const [read, setRead] = useState(false)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const known = useRef(EMPTY_LOG)
  const reader = useRef<LogReader | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is a reason to ask again, behind what is known
  useEffect(() => {
    const own = makeLogReader(
      {
        part: (after, signal) => call('jobLog', { id: jobId, query: after === null ? {} : { after }, signal }),
        told(next, isEnd) {
          known.current = next
          setLog(next)
          if (!isEnd) return
          setRead(true)
          setProblem(null)
        },
        failed: (error) => setProblem(problemFrom(error)),
      },
      known.current,
    )
    reader.current = own
    return () => own.stop()
  }, [jobId, key])

  useEffect(() => {
    if (!atWork) return
    const timer = setInterval(() => document.visibilityState === 'visible' && setTurn((before) => before + 1), EVERY_MS)
    return () => clearInterval(timer)
  }, [atWork])

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is told, the clock and a new stream are reasons to read on
  useEffect(() => {
    reader.current?.readOn()
  }, [jobId, key, epoch, told, turn])

  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { log, read, problem, again }
}
