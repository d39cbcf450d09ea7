import { useCallback, useEffect, useRef, useState } from 'react'
import type { TranscriptPart } from '../../../../src/contract/api/archives.js'
import { type CallProblem, call, problemFrom } from '../../api.js'
import { type ReadingWindow, readBack, readOn, windowOf, withWhole } from './reading-window.js'

const PAGE = 120

export interface Reading {
  window: ReadingWindow | null
  problem: CallProblem | null
  /** Which way more is being read. */
  busy: 'on' | 'back' | null
  more: (way: 'on' | 'back') => void
  whole: (line: number) => Promise<void>
  again: () => void
}

/** Reads a transcript around a line, and further from there either way. `changing` is told before what is shown changes. */
export function useTranscript(id: string, subagent: string, line: number | null, changing: () => void): Reading {
  const [window, setWindow] = useState<ReadingWindow | null>(null)
  const [problem, setProblem] = useState<CallProblem | null>(null)
  const [busy, setBusy] = useState<Reading['busy']>(null)
  const [turn, setTurn] = useState(0)
  const stop = useRef<AbortController | null>(null)
  const shown = useRef(window)
  shown.current = window

  const ask = useCallback(
    (query: { from?: number; before?: number; limit: number; whole?: true }, signal: AbortSignal) =>
      call('transcript', { id, query: { ...query, subagent: subagent || undefined }, signal }),
    [id, subagent],
  )

  useEffect(() => {
    const own = new AbortController()
    stop.current = own
    setBusy(null)
    const isThere = shown.current?.entries.some((entry) => entry.line === line) ?? false
    if (line !== null && isThere && turn === 0) return () => own.abort()
    setProblem(null)
    const from = Math.max(1, line ?? 1)
    // One after the other: to find a line the first time a long transcript is gone through, and twice at once is no faster.
    const parts = async (): Promise<TranscriptPart[]> => {
      const back = from === 1 ? [] : [await ask({ before: from, limit: PAGE / 4 }, own.signal)]
      return [...back, await ask({ from, limit: PAGE }, own.signal)]
    }
    parts().then(
      (told) => {
        if (!own.signal.aborted) setWindow(windowOf(...told))
      },
      (error) => own.signal.aborted || setProblem(problemFrom(error)),
    )
    return () => own.abort()
  }, [ask, line, turn])

  const more = useCallback(
    (way: 'on' | 'back'): void => {
      const signal = stop.current?.signal
      const now = shown.current
      const at = way === 'on' ? now?.from : now?.before
      if (signal === undefined || at === null || at === undefined) return
      setBusy(way)
      ask(way === 'on' ? { from: at, limit: PAGE } : { before: at, limit: PAGE }, signal).then(
        (part) => {
          if (signal.aborted) return
          changing()
          setWindow((before) => before && (way === 'on' ? readOn : readBack)(before, part))
          setBusy(null)
        },
        (error) => {
          if (signal.aborted) return
          setProblem(problemFrom(error))
          setBusy(null)
        },
      )
    },
    [ask, changing],
  )

  const whole = useCallback(
    async (at: number): Promise<void> => {
      const signal = stop.current?.signal ?? new AbortController().signal
      const { entries } = await ask({ from: at, limit: 1, whole: true }, signal)
      setWindow((before) => before && withWhole(before, entries))
    },
    [ask],
  )
  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { window, problem, busy, more, whole, again }
}
