import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Home, type HomeOptions, makeHome } from './home.js'
import { pretend } from './hooks.js'
import { BATON } from './paths.js'
import { end } from './processes.js'
import { until } from './wait.js'

export interface Machine {
  home: Home
  /** Baton's folder: BATON_HOME, or the default place. */
  root: string
  env: Record<string, string>
  /**
   * File with the process id that systemctl reports for the service. Absent when the service is
   * stopped.
   */
  mainPid: string
  baton(...args: string[]): { code: number | null; stdout: string; stderr: string }
}

/**
 * A user's machine with a fake systemctl that changes files as the real one does, and reports the
 * process in the file `main-pid` as the service. `own` is true when BATON_HOME is set.
 */
export function machine(own: boolean, options: HomeOptions = {}): Machine {
  const home = makeHome(options)
  const bin = path.join(home.dir, 'bin')
  mkdirSync(bin)
  const mainPid = path.join(home.dir, 'main-pid')
  const wants = '$HOME/.config/systemd/user/default.target.wants'
  const systemctl = [
    '#!/bin/sh',
    'case "$2" in',
    `  enable) mkdir -p "${wants}"; ln -sf ../baton "${wants}/baton" ;;`,
    '  disable)',
    `    rm -f "${wants}/baton"`,
    `    [ -e '${mainPid}' ] || exit 0`,
    `    read -r pid < '${mainPid}'; kill "$pid"`,
    // The test has no chance to reap the process while it waits for the command.
    `    while grep -q '^State:[[:space:]]*[A-Y]' "/proc/$pid/status" 2> /dev/null; do sleep 0.05; done ;;`,
    `  show) if [ -e '${mainPid}' ]; then cat '${mainPid}'; else echo 0; fi ;;`,
    'esac',
  ]
  writeFileSync(path.join(bin, 'systemctl'), `${systemctl.join('\n')}\n`, { mode: 0o755 })
  const { BATON_HOME: batonHome, ...rest } = home.env
  const env: Record<string, string> = {
    ...rest,
    PATH: `${bin}:${rest.PATH}`,
    ...(own ? { BATON_HOME: batonHome! } : {}),
  }
  const root = own ? batonHome! : path.join(home.home, '.local', 'share', 'baton')
  const baton = (...args: string[]) => {
    const ran = spawnSync(process.execPath, [BATON, ...args], { env, cwd: home.project, encoding: 'utf8' })
    return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  }
  return { home: { ...home, env }, root, env, mainPid, baton }
}

/** Starts a command that keeps running until the end of the test. */
export function startBaton({ env, home }: Pick<Machine, 'env' | 'home'>, ...args: string[]) {
  const child = spawn(process.execPath, [BATON, ...args], {
    env,
    cwd: home.project,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const over = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await end(child.pid!)
  })
  return { child, over, firstLine: () => until('its first line', () => /^(.*)\n/.exec(out)?.[1]) }
}

/**
 * Fills Baton's home: sessions with readings, an archive, a brief, a long message, a job with a
 * log, and the files of a server that ran.
 */
export async function liveThrough(it: Machine): Promise<void> {
  const { home, baton } = it
  const session = pretend(home, process.pid)
  await session.hook('SessionStart', { source: 'startup' })
  await session.batch(50_000)
  await session.statusLine(60_000)
  await session.hook('PreCompact', { trigger: 'auto' })
  const brief = path.join(home.dir, 'brief.md')
  writeFileSync(brief, '# Handoff brief\n\n## Goal and why\n\nAll.\n\n## Next exact step\n\nGo on.\n')
  expect(baton('handoff', brief, '--session', session.id)).toMatchObject({ code: 0 })
  expect(baton('send', session.id, 'long '.repeat(5_000))).toMatchObject({ code: 0 })
  expect(baton('run', '--prompt', 'Do it.', '--runtime', 'scripted')).toMatchObject({ code: 0 })
  const server = startBaton(it, 'serve', '--port', '0', '--json')
  await server.firstLine()
  await session.hook('UserPromptSubmit', { prompt: 'hello' })
  server.child.kill('SIGTERM')
  await server.over
  expect(baton('archive', 'list', '--json').stdout).toContain('"kept"')
}
