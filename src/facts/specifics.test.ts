import { expect, test } from 'vitest'
import { specificsOf } from './specifics.js'

test.each([
  ['The limit is in `src/queue/limits.ts`, not in the client.', ['src/queue/limits.ts']],
  ['parseHeader drops the second value of x_trace_id.', ['parseheader', 'x_trace_id']],
  ['Opened #4711 and https://example.org/a/7 for it.', ['#4711', 'https://example.org/a/7']],
  ['It takes 340 ms since v2.14.0, 12% more.', ['340 ms', 'v2.14.0', '12%']],
  ['The job says "no space left" at commit 9fe31ac.', ['no space left', '9fe31ac']],
  ['ログには「容量不足」と出ます。', ['容量不足']],
  ['Ticket OPS-88 asks for --dry-run.', ['ops-88', '--dry-run']],
])('the specific words of a sentence are found: %s', (text, words) => {
  expect([...specificsOf(text)].sort()).toEqual([...words].sort())
})

test.each(['That works now.', 'I will look at the tests next.', 'OK, the API and the UI agree.'])(
  'a sentence without names and figures has no specific words: %s',
  (text) => expect(specificsOf(text).size).toBe(0),
)
