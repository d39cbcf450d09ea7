// Replaces the client's own prompts and lists in a transcript or a job's log by filler of the same
// length, so that every other byte keeps its place. Runs while the client still appends to the
// file.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

const [, , file] = process.argv
const lines = readFileSync(file, 'utf8').split('\n')
const out = openSync(file, 'r+')
let at = 0
for (const [index, line] of lines.entries()) {
  // The text after the last newline is an incomplete line.
  if (index < lines.length - 1 && isOwn(line)) {
    let clean = line
    // A text may be part of another one.
    const texts = textsOf(JSON.parse(line)).sort((a, b) => b.length - a.length)
    for (const text of texts) clean = clean.replaceAll(text, 'x'.repeat(Buffer.byteLength(text)))
    if (clean !== line) writeSync(out, clean, at)
  }
  at += Buffer.byteLength(line) + 1
}
closeSync(out)

/** True for lines with the client's requests and attachments, except the output of hooks. */
function isOwn(line) {
  if (!/"type":"(attachment|api-request|control_response)/.test(line)) return false
  const { type, attachment } = JSON.parse(line)
  return type !== 'attachment' || !/^hook_/.test(attachment.type)
}

/** Returns the long texts in a line in their JSON form, without ids and hashes. */
function textsOf(value, key = null) {
  const text = typeof value === 'string' ? value : null
  if (text !== null)
    return text.length > 40 && !/^[\w-]+$/.test(text) && key !== 'cwd' ? [JSON.stringify(text).slice(1, -1)] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, name))
}
