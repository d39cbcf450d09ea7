import { expect, test } from 'vitest'
import { logPrinter } from './job-log-lines.js'
import { plain, type Screen } from './screen.js'
import { localTime } from './text.js'

const screen = { columns: 60, paint: plain } as Screen
const noted = (at: string): string => JSON.stringify({ type: 'baton', at, event: 'time' })
const lineWith = (text: string): string =>
  JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } })
const at = (seconds: number): string => `2026-03-01T12:00:0${seconds}.000Z`
const time = (seconds: number): string => localTime(new Date(at(seconds)))

test('each log entry shows the last time noted before it, and its other lines are indented', () => {
  const print = logPrinter('claude-code', screen)
  expect(print(lineWith('before any time'))).toEqual(['         before any time'])
  expect(print(noted(at(1)))).toEqual([])
  expect(print(lineWith('one\ntwo'))).toEqual([`${time(1)} one`, '         two'])
  expect(print(noted(at(2)))).toEqual([])
  expect(print(lineWith('three'))).toEqual([`${time(2)} three`])
  expect(print(JSON.stringify({ type: 'baton', at: at(3), event: 'job_resumed', data: {} }))).toEqual([
    `${time(3)} resumed`,
  ])
})

test('a call in the log is cut to the width of the terminal, including its time', () => {
  const content = [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'x'.repeat(200) } }]
  const print = logPrinter('claude-code', screen)
  const [line] = print(JSON.stringify({ type: 'assistant', message: { role: 'assistant', content } }))
  expect([...line!]).toHaveLength(60)
})
