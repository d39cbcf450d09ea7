import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/harness/temp-dir.js'
import { transcriptContains } from './answer.js'

function transcript(text: string): string {
  const at = path.join(tempDir(), 's1.jsonl')
  writeFileSync(at, text)
  return at
}

const attachment = (content: string) =>
  `${JSON.stringify({ type: 'attachment', attachment: { type: 'hook_additional_context', content: [content] } })}\n`

test('a text is found with any quoting, also far back and across two chunks', () => {
  const text = '[baton] 70 % of "167k"\n\tül — go on'
  expect(transcriptContains(transcript(attachment(text)), text)).toBe(true)
  expect(transcriptContains(transcript(attachment(text) + 'x'.repeat(5_000_000)), text)).toBe(true)
  const length = attachment(text).length
  for (const seam of [20, 60, length - 5])
    expect(transcriptContains(transcript(attachment(text) + 'x'.repeat(1024 * 1024 - seam)), text)).toBe(true)
})

test('another text is not found', () => {
  expect(transcriptContains(transcript(attachment('[baton] 70 %')), '[baton] 85 %')).toBe(false)
  expect(transcriptContains(transcript(''), '[baton] 85 %')).toBe(false)
  expect(transcriptContains('/nowhere.jsonl', '[baton] 85 %')).toBe(false)
})

test('a long text that was cut on its way is found by its beginning', () => {
  const text = '[baton] '.repeat(3000)
  expect(transcriptContains(transcript(attachment(`${text.slice(0, 9000)} cut`)), text)).toBe(true)
})
