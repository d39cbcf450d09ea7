import { useEffect, useState } from 'react'
import { exactText } from '../format.js'

/** `0:27`, `12:05`, `1:02:05`. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const two = (value: number): string => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** Counts down to a moment, second by second. Not read aloud: `role=timer` is silent. */
export function Countdown({ until }: { until: string }) {
  const [left, setLeft] = useState(() => Date.parse(until) - Date.now())
  useEffect(() => {
    const look = (): void => setLeft(Date.parse(until) - Date.now())
    look()
    const timer = setInterval(look, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return (
    <time className="countdown" role="timer" dateTime={until} title={exactText(until)}>
      {countdownText(left)}
    </time>
  )
}
