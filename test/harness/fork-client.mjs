// Fake client: without -p it keeps running; with -p it records its arguments, waits at the FIFO
// FORK_GATE and answers as FORK_DOES says.
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs'

const { FORK_LOG, FORK_DOES = 'answers', FORK_BRIEF, FORK_GATE } = process.env
if (!process.argv.includes('-p')) setInterval(() => {}, 60_000)
else {
  const child = FORK_DOES === 'stays' ? spawn('sleep', ['300'], { stdio: 'ignore', detached: true }) : null
  const { BATON_DISABLE, BATON_FORK, TMUX_PANE, CLAUDECODE } = process.env
  const env = { BATON_DISABLE, BATON_FORK, TMUX_PANE, CLAUDECODE }
  const prompt = readFileSync(0, 'utf8')
  const args = process.argv.slice(2)
  const path = args.find((arg) => arg.startsWith('--settings='))?.slice('--settings='.length)
  const settings = path && { path, mode: statSync(path).mode & 0o777, text: readFileSync(path, 'utf8') }
  const called = { pid: process.pid, child: child?.pid ?? null, cwd: process.cwd(), args, settings, env, prompt }
  appendFileSync(FORK_LOG, `${JSON.stringify(called)}\n`)
  const result = { type: 'result', subtype: 'success', is_error: false, result: FORK_BRIEF }
  if (FORK_GATE && existsSync(FORK_GATE)) readFileSync(FORK_GATE)
  if (FORK_DOES === 'answers') process.stdout.write(JSON.stringify(result))
  else if (FORK_DOES === 'fails') process.exitCode = 3
  else setInterval(() => {}, 60_000)
}
