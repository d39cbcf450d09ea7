import { execFile, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hookEnvironment, statusLine, toolBatch, toolUseId, transcriptStep } from './samples.mjs'

const KINDS = ['status-line', 'PostToolBatch']
const FIGURES = ['total_input_tokens', 'cache_read_input_tokens']
const USED = 20_408
const CALL = 36 ** 7

/**
 * Makes a generator of signals for a running server: many sessions, half status lines and half
 * tool batches, about 1.5 kB each. With `growing` a transcript gets the answer and the tool result
 * before the signal that reports them; with `kept` connections are reused, as programs do. Null
 * when the machine has no C compiler.
 */
export function prepareLoad(dir, { sessions, cwd, folder, server, growing = false, kept = false }) {
  const { port, token } = server
  const program = join(dir, 'load')
  if (spawnSync('cc', ['-O2', '-o', program, new URL('load.c', import.meta.url).pathname]).status !== 0) return null
  mkdirSync(folder, { recursive: true })
  const templates = join(dir, `templates-${growing}`)
  const out = openSync(templates, 'w')
  const living = processes()
  for (let i = 0; i < sessions; i++) {
    const sessionId = `${String(i).padStart(8, '0')}-1111-4000-8000-000000000000`
    const session = { sessionId, cwd, transcript: join(folder, `${sessionId}.jsonl`), pid: living[i % living.length] }
    writeFileSync(session.transcript, transcriptStep({ ...session, n: CALL, used: 15_008, size: 900, at: Date.now() }))
    for (const kind of KINDS) writeSync(out, template(kind, session, { port, token, growing, kept }))
  }
  closeSync(out)
  return {
    /** Starts the generator. `prefix` is a command to run it with, such as taskset. */
    async run({ rate, seconds, prefix = [] }) {
      const [name, ...args] = [
        ...prefix,
        program,
        String(port),
        String(rate),
        String(seconds),
        templates,
        ...(kept ? ['kept'] : []),
      ]
      const { stdout } = await promisify(execFile)(name, args, { timeout: Math.ceil(seconds + 30) * 1000 })
      return JSON.parse(stdout)
    },
  }
}

/**
 * Process ids for the sessions. The server looks up clients by process, so running processes of
 * this machine are used.
 */
function processes() {
  const found = existsSync('/proc')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : []
  return found.length > 0 ? found : [process.pid]
}

/**
 * Encodes a session for load.c: sizes and offsets to fill in, the request, the transcript's path
 * and the step to append.
 */
function template(kind, session, { port, token, growing, kept }) {
  const body =
    kind === 'status-line'
      ? statusLine({ ...session, used: USED, duration: 10_000_000 }).padEnd(1_500)
      : toolBatch({ ...session, n: CALL, size: 1_000 }).padEnd(1_500)
  const env = Object.entries(hookEnvironment(session))
    .map(([name, value]) => `X-Env-${name}: ${value}\r\n`)
    .join('')
  const request =
    `POST /signals/claude-code/${kind} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
    `Connection: ${kept ? 'keep-alive' : 'close'}\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${token}\r\n` +
    (`X-Baton-Signal: ${session.sessionId}.1700000000.00000000.1.${kind}\r\n` +
      `${env}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const step =
    growing && kind === 'PostToolBatch'
      ? transcriptStep({ ...session, n: CALL, used: USED, size: 900, at: Date.now() })
      : ''
  const call = toolUseId(CALL).slice('toolu_'.length)
  const marks = [
    ...places(request, '.00000000.1.', 'r n', 1),
    ...FIGURES.flatMap((name) => places(request, `"${name}":`, 'r u', name.length + 3)),
    ...places(request, '"total_duration_ms":', 'r n', '"total_duration_ms":'.length),
    ...(growing ? places(request, call, 'r n') : []),
    ...places(step, call, 's n'),
    ...FIGURES.flatMap((name) => places(step, `"${name}":`, 's u', name.length + 3)),
  ]
  const path = step === '' ? '' : session.transcript
  const sizes = [request, path, step].map((text) => Buffer.byteLength(text))
  return `${sizes.join(' ')} ${marks.length} ${marks.join(' ')}\n${request}${path}${step}`
}

function places(text, mark, what, offset = 0) {
  const found = []
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) found.push(`${what} ${at + offset}`)
  return found
}
