import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Home, makeHome } from '../harness/home.js'
import { BATON } from '../harness/paths.js'
import { PATIENCE_MS, until } from '../harness/wait.js'

/** A machine without BATON_HOME, like most: data, configuration and log are in three folders. */
function place(): {
  home: Home
  env: Record<string, string>
  baton(...args: string[]): Promise<string>
  hook(event: string, body: object, more?: Record<string, string>): Promise<string>
} {
  const home = makeHome()
  const { BATON_HOME: _, ...env } = home.env
  const run = (file: string, args: string[], input: string, vars: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = execFile(file, args, { env: vars, cwd: home.project, timeout: PATIENCE_MS }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
      child.stdin?.end(input)
    })
  return {
    home,
    env,
    baton: (...args) => run(process.execPath, [BATON, ...args], '', env),
    hook(event, body, more = {}) {
      const settings = JSON.parse(readFileSync(path.join(home.configDir, 'settings.json'), 'utf8'))
      const command = event === 'status-line' ? settings.statusLine.command : settings.hooks[event][0].hooks[0].command
      return run('/bin/sh', ['-c', command], JSON.stringify(body), { ...env, ...more })
    },
  }
}

const line = (session: string, used: number) => ({
  session_id: session,
  cwd: '/nowhere',
  model: { id: 'claude-opus-4-6' },
  workspace: { current_dir: '/nowhere', project_dir: '/nowhere' },
  version: '2.1.325',
  cost: { total_cost_usd: 0, total_duration_ms: used },
  context_window: {
    total_input_tokens: used,
    context_window_size: 200_000,
    current_usage: { input_tokens: used, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  },
})
const session = async (it: ReturnType<typeof place>) => JSON.parse(await it.baton('status', '--json')).sessions[0]

test('hooks use the configuration in ~/.config/baton and write to the store that the commands read', async () => {
  const it = place()
  await it.baton('install')
  mkdirSync(path.join(it.home.home, '.config', 'baton'), { recursive: true })
  writeFileSync(
    path.join(it.home.home, '.config', 'baton', 'config.yaml'),
    'presets: []\nlevels:\n  - {name: mine, at: 40k, actions: [user]}\n',
  )
  await it.hook('status-line', line('aaaa-1', 50_000))
  expect(await session(it)).toMatchObject({ session_id: 'aaaa-1', used_tokens: 50_000, level: 'mine' })
  const log = path.join(it.home.home, '.local', 'state', 'baton', 'baton.log')
  writeFileSync(path.join(it.home.home, '.config', 'baton', 'config.yaml'), 'enabled: false\n')
  expect(await it.hook('status-line', line('aaaa-1', 90_000))).toContain('baton off')
  expect(() => readFileSync(log)).toThrow()
})

test("a session's own environment switches Baton off for it, whichever process handles its signal", async () => {
  const it = place()
  await it.baton('install')
  const server = execFile(process.execPath, [BATON, 'serve', '--port', '0', '--json'], { env: it.env })
  try {
    await until('the server', () => readable(path.join(it.home.home, '.local', 'share', 'baton', 'run', 'server')))
    expect(await it.hook('status-line', line('aaaa-1', 90_000), { BATON_ENABLED: '0', NO_COLOR: '1' })).toBe(
      'baton off\n',
    )
    expect(await it.hook('status-line', line('aaaa-2', 90_000), { NO_COLOR: '1' })).toContain('53.9%')
  } finally {
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    await gone
  }
})

test('a foreign listener on the port of a dead server receives nothing, and its answer is not printed', async () => {
  const it = place()
  await it.baton('install')
  let heard = ''
  const stranger = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (data) => {
      heard += data.toString()
    })
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  const { port } = stranger.address() as { port: number }
  const file = path.join(it.home.home, '.local', 'share', 'baton', 'run', 'server')
  try {
    writeFileSync(file, `${port} - 999999\n`)
    expect(await it.hook('status-line', line('aaaa-1', 50_000), { NO_COLOR: '1' })).toContain('29.9%')
    expect(heard).toBe('')
    // Even with a living pid, an answer without Baton's mark is rejected.
    writeFileSync(file, `${port} - ${process.pid}\n`)
    expect(await it.hook('status-line', line('aaaa-1', 60_000), { NO_COLOR: '1' })).toContain('35.9%')
  } finally {
    await new Promise((resolve) => stranger.close(resolve))
  }
})

function readable(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== ''
  } catch {
    return false
  }
}
