const BOOKKEEPING = Buffer.from('{"type":"')
const QUEUE = Buffer.from('{"type":"queue-operation"')
const ATTACHMENT = '"attachment":{"type":"'
const TOLD = ['queued_command"', 'file"']
/** Where an entry's kind stands at the latest: behind its ids. */
const NEAR = 200

/** Lines whose first bytes tell that they hold no part of the conversation are not parsed; they are most of a transcript. */
function isWanted(bytes: Buffer): boolean {
  if (begins(bytes, BOOKKEEPING, 0)) return begins(bytes, QUEUE, 0) || !BOOKKEPT.test(bytes.toString('latin1', 9, 40))
  const head = bytes.toString('latin1', 0, NEAR)
  const at = head.indexOf(ATTACHMENT)
  return at < 0 || TOLD.some((kind) => head.startsWith(kind, at + ATTACHMENT.length))
}

const RECORD = Buffer.from(',"toolUseResult":{')
const BEHIND_RECORD = Buffer.from(',"sourceToolAssistantUUID":"')
/** Records of reading and changing files: nothing in them is asked for. */
const OF_FILES = ['"type":"text","file":', '"filePath":', '"type":"create"', '"type":"update"'].map((words) => Buffer.from(words))
const OUTPUT = Buffer.from('"stdout":"')
const BEHIND_OUTPUT = Buffer.from('","stderr":"')

/**
 * The text of a line, without what the client's own record of a tool result says a second time (the file, the output): half of most
 * transcripts. Inside strings quotes are escaped, so these bytes only match where they are keys.
 */
export function textOfLine(bytes: Buffer, withoutFiles: boolean): string | null {
  if (!isWanted(bytes)) return null
  const at = bytes.length < WORTH_CUTTING ? -1 : bytes.indexOf(RECORD)
  if (at < 0) return bytes.toString('utf8')
  const inside = at + RECORD.length
  if (withoutFiles && begins(bytes, OF_FILES[0]!, inside)) return withoutFile(bytes, at)
  if (OF_FILES.some((words) => begins(bytes, words, inside))) return without(bytes, at, bytes.indexOf(BEHIND_RECORD, inside))
  if (!begins(bytes, OUTPUT, inside)) return bytes.toString('utf8')
  return without(bytes, inside + OUTPUT.length, bytes.indexOf(BEHIND_OUTPUT, inside))
}

const WORTH_CUTTING = 1000

const CONTENT = Buffer.from('"type":"tool_result","content":"')
const BEHIND_CONTENT = Buffer.from('"}]},"uuid":"')

/** A file that was read, as a result without its text. */
function withoutFile(bytes: Buffer, record: number): string {
  const start = bytes.indexOf(CONTENT)
  const end = start < 0 ? -1 : bytes.indexOf(BEHIND_CONTENT, start + CONTENT.length)
  const rest = bytes.indexOf(BEHIND_RECORD, record)
  if (end < 0 || end > record || rest < 0) return without(bytes, record, rest)
  return bytes.toString('utf8', 0, start + CONTENT.length) + bytes.toString('utf8', end, record) + bytes.toString('utf8', rest)
}

function without(bytes: Buffer, start: number, end: number): string {
  return end < start ? bytes.toString('utf8') : bytes.toString('utf8', 0, start) + bytes.toString('utf8', end)
}

const BOOKKEPT =
  /^(?:api-request|file-history|last-prompt|atis-latch|tools-used|cost-state|mode"|permission-mode|custom-title|agent-name|summary")/

function begins(bytes: Buffer, wanted: Buffer, at: number): boolean {
  return bytes.length >= at + wanted.length && bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
}
