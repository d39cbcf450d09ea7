import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { interleave, median, row, rowOf } from './figures.mjs'
import { bundleSource } from './from-source.mjs'
import { cleanEnvironment, temporary } from './machine.mjs'

export const about = 'facts of a transcript of 200 MB, beside JSON.parse of every line of it'

const MB = 1024 * 1024
/** Upper bound: extracting facts may take this many times as long as JSON.parse of every line. */
const TIMES = 2.5
/** Upper bound of memory in MB while reading, for a file of any size. */
const MOST_MB = 400

/** Each sample is a new process that reads the file once. */
export async function run({ quick, note }) {
  // With a smaller file Node's warm-up would dominate the measurement.
  const bytes = 200 * MB
  const rounds = quick ? 3 : 9
  const dir = temporary('facts')
  const rooms = await bundleSource(['agents/claude-code/conversation.ts', 'facts/facts.ts', 'facts/rank.ts'])
  const program = join(dir, 'facts-once.mjs')
  writeFileSync(program, PROGRAM)
  const env = cleanEnvironment(dir)
  const rows = []
  for (const [name, bookkeeping] of [
    ['conversation alone', false],
    ['with the client’s own bookkeeping', true],
  ]) {
    const file = join(dir, `${bookkeeping ? 'whole' : 'bare'}.jsonl`)
    const lines = writeConversation(file, { bytes, bookkeeping })
    note(`${name}: ${lines.toLocaleString('en')} lines`)
    const memory = []
    const once = (how) => {
      const told = JSON.parse(execFileSync(process.execPath, [program, rooms, file, how], { env, encoding: 'utf8' }))
      if (how === 'facts') {
        memory.push(told.mb)
        if (told.lines !== lines || told.facts < 20)
          throw new Error(`read ${told.lines} of ${lines} lines, ${told.facts} facts`)
      }
      return told.ms
    }
    const samples = await interleave(
      ['parse', 'facts'].map((how) => ({ name: how, run: () => once(how) })),
      { rounds, warm: 1 },
    )
    const parse = median(samples.get('parse'))
    rows.push(
      rowOf(`JSON.parse of every line, ${name}`, samples.get('parse'), { note: `${bytes / MB} MB` }),
      rowOf(`facts, ${name}`, samples.get('facts'), { bound: parse * TIMES, rule: `${TIMES}x parsing` }),
      row(`facts, ${name}, memory`, median(memory), { unit: 'MB', bound: MOST_MB }),
    )
  }
  return rows
}

const PROGRAM = `
import { closeSync, openSync, readSync } from 'node:fs'
const [, , rooms, file, how] = process.argv
const { readConversation, startFacts, rankFacts } = await import(rooms)
const began = performance.now()
const told = how === 'facts' ? facts() : parse()
console.log(JSON.stringify({ ...told, ms: performance.now() - began, mb: process.resourceUsage().maxRSS / 1024 }))

function facts() {
  const collected = startFacts()
  const { lines } = readConversation(file, { withoutFiles: true, onEntry: collected.add })
  return { lines, facts: rankFacts(collected.facts()).length }
}

function parse() {
  const fd = openSync(file, 'r')
  const chunk = Buffer.allocUnsafe(1024 * 1024)
  let rest = Buffer.alloc(0)
  let lines = 0
  for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
    const buffer = rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, got)]) : chunk.subarray(0, got)
    let start = 0
    for (let end = buffer.indexOf(10); end >= 0; end = buffer.indexOf(10, start)) {
      if (JSON.parse(buffer.toString('utf8', start, end)) !== null) lines++
      start = end + 1
    }
    rest = Buffer.from(buffer.subarray(start))
  }
  closeSync(fd)
  return { lines }
}
`

const SESSION = '0a1b2c3d-0000-4000-8000-000000000300'
const CODE = Array.from(
  { length: 100 },
  (_, i) =>
    `export function step${i}(input: string[]): number {\n  // never return NaN here\n` +
    `  return input.filter((one) => one !== "").length + ${i}\n}\n`,
).join('\n')
const GREEN =
  '\n RUN  v3.2.4 /bench/project\n\n' +
  `${Array.from({ length: 30 }, (_, i) => ` ✓ src/part-${i}.test.ts (${i + 2} tests) ${i + 3}ms`).join('\n')}\n\n` +
  ' Test Files  30 passed (30)\n      Tests  495 passed (495)\n   Duration  4.02s\n'
const RED = GREEN.replace(
  ' ✓ src/part-7.test.ts',
  ' FAIL  src/part-7.test.ts > parts > counts what is left\nAssertionError: expected 3 to be 4\n ❯ src/part-7.test.ts',
).replace('30 passed (30)', '1 failed | 29 passed (30)')

/**
 * Writes turns of a working day: prompt, reads, edits, tests, commit, report. Returns the number
 * of lines.
 */
export function writeConversation(file, { bytes, bookkeeping }) {
  const fd = openSync(file, 'w')
  let written = 0
  let lines = 0
  let block = ''
  const put = (entry) => {
    block += `${JSON.stringify(entry)}\n`
    lines++
  }
  for (let turn = 0; written < bytes; turn++) {
    writeTurn(put, turn, bookkeeping)
    if (block.length < MB && written + block.length < bytes) continue
    written += writeSync(fd, block)
    block = ''
  }
  closeSync(fd)
  return lines
}

function writeTurn(put, turn, bookkeeping) {
  let n = 0
  const id = () => `${turn.toString(16).padStart(8, '0')}-0000-4000-8000-${(n++).toString(16).padStart(12, '0')}`
  const head = () => ({ parentUuid: id(), isSidechain: false })
  const tail = () => ({
    uuid: id(),
    timestamp: new Date(1_790_000_000_000 + turn * 60_000 + n * 900).toISOString(),
  })
  const about = {
    userType: 'external',
    entrypoint: 'cli',
    cwd: '/bench/project',
    sessionId: SESSION,
    version: '2.1.325',
    gitBranch: 'main',
  }
  const blob = (message) => {
    if (!bookkeeping) return
    put({ type: 'api-request-blob', sessionId: SESSION, hash: id(), message })
    const attachment = { type: 'total_tokens_reminder', text: `${turn} tokens left` }
    put({ ...head(), attachment, type: 'attachment', ...tail(), rendered: 'x'.repeat(300), ...about })
  }
  const prompt = (content) => {
    const message = { role: 'user', content }
    put({
      ...head(),
      promptId: id(),
      type: 'user',
      message,
      ...tail(),
      origin: { kind: 'human' },
      promptSource: 'typed',
      ...about,
    })
    blob(message)
  }
  const answer = (block) => {
    const usage = {
      input_tokens: 8,
      cache_creation_input_tokens: 400,
      cache_read_input_tokens: 60_000,
      output_tokens: 50,
    }
    const message = {
      id: `msg_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-6',
      content: [block],
      usage,
    }
    put({ ...head(), message, apiBlockIndex: 0, requestId: `req_${n}`, type: 'assistant', ...tail(), ...about })
  }
  const call = (name, input, content, record, failed = false) => {
    const callId = `toolu_${turn}_${n}`
    answer({ type: 'tool_use', id: callId, name, input })
    // The client reports an error only for tools that can fail without ending the turn.
    const outcome = name === 'Bash' ? { is_error: failed } : {}
    const message = { role: 'user', content: [{ tool_use_id: callId, type: 'tool_result', content, ...outcome }] }
    const source = { toolUseResult: record, sourceToolAssistantUUID: id() }
    put({ ...head(), promptId: id(), type: 'user', message, ...tail(), ...source, ...about })
    blob(message)
  }
  const path = `/bench/project/src/part-${turn % 300}.ts`
  const read = (file, length) => {
    const content = CODE.slice(0, length)
    call('Read', { file_path: file }, content.replace(/^/gm, '1\t'), {
      type: 'text',
      file: { filePath: file, content, numLines: 160, startLine: 1, totalLines: 160 },
    })
  }
  const edit = () =>
    call(
      'Edit',
      { file_path: path, old_string: CODE.slice(0, 200), new_string: CODE.slice(0, 220) },
      `The file ${path} has been updated successfully.`,
      {
        filePath: path,
        oldString: CODE.slice(0, 200),
        newString: CODE.slice(0, 220),
        originalFile: CODE.slice(0, 6000),
        structuredPatch: [{ oldStart: 1, lines: CODE.slice(0, 800).split('\n') }],
      },
    )
  const shell = (command, output, exit = 0) => {
    const shown = exit > 0 ? `Exit code ${exit}\n${output}` : output
    const record = exit > 0 ? `Error: ${shown}` : { stdout: output, stderr: '', interrupted: false, isImage: false }
    call('Bash', { command, description: 'Run it' }, shown, record, exit > 0)
  }

  const work = () => {
    read(path, 6000)
    read(path.replace('.ts', '.test.ts'), 12_000)
    read('/bench/project/README.md', 1500)
    shell(`grep -rn "step${turn % 40}" src | head -50`, `src/part-3.ts:12: step${turn % 40}(input)\n`.repeat(40))
    const todos = [`Fix part ${turn}`, `Test part ${turn}`].map((content) => ({
      content,
      status: 'pending',
      activeForm: content,
    }))
    call('TodoWrite', { todos }, 'Todos have been modified successfully.', { oldTodos: [], newTodos: todos })
    shell('npx vitest run', RED, 1)
    edit()
    edit()
    shell('npx tsc --noEmit && cat package.json', CODE.slice(0, 3000))
    shell('npx vitest run', GREEN)
    shell(
      `sed -i 's/a/b/' docs/part-${turn % 300}.md && git commit -am "Count part ${turn} right"`,
      `[main ${(0x1000000 + turn).toString(16)}] Count part ${turn} right\n 1 file changed`,
    )
    shell('git log -30', 'commit abcdef0\n\n    Count what is left\n'.repeat(30))
  }

  prompt(
    `Part ${turn} counts one too many when the list is empty. Please fix it. Do not change the signature, and keep ` +
      `the tests green. Is part ${turn + 1} affected too?`,
  )
  answer({ type: 'text', text: `I look at part ${turn} first.` })
  for (let round = 0; round < 2; round++) work()
  answer({
    type: 'text',
    text:
      `Part ${turn} is right now: I keep the guard in the caller rather than in the loop, because the loop is hot. ` +
      `Part ${turn + 1} is not affected. Shall I go on with the next?`,
  })
}
