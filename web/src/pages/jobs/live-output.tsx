import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { clockText, exactText, groupedText, plural } from '../../format.js'
import { useLive } from '../../live/use-live.js'
import { Command } from '../../parts/copy-button.js'
import { Problem, Skeleton, Withheld } from '../../parts/faces.js'
import { type LogChunk, type LogLine, leftOut } from './log-fold.js'
import { useJobLog } from './use-job-log.js'

/** So near the end, the end is what is looked at. */
const NEAR = 40
/** A scroll so soon after a wheel, a key, a finger or a button is a person's, and so is what follows it. */
const BY_HAND_MS = 400

/** What the job's clients say, as it comes. Stays at the end until somebody scrolls up. */
export function LiveOutput({ jobId, atWork }: { jobId: string; atWork: boolean }) {
  const words = useLive((live) => live.words)
  const isUnheard = useLive((live) => live.status === 'connecting')
  if (isUnheard) return <Skeleton lines={4} label="Reading the output" />
  if (!words) return <Withheld what="What its agents say" />
  return <Output jobId={jobId} atWork={atWork} />
}

function Output({ jobId, atWork }: { jobId: string; atWork: boolean }) {
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
  const hidden = leftOut(log)
  return (
    <div className="output">
      {problem !== null && <Problem problem={problem} again={again} />}
      {hidden > 0 && (
        <div className="output-note quiet">
          <span>The first {groupedText(hidden)} lines are left out here.</span> <Command text={`baton jobs logs ${jobId}`} />
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
