// Fake client: runs the commands that it reads from stdin (one JSON line each) as its own children
// and prints their results.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { command, body, env, cwd } = JSON.parse(line)
  const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stdin.end(body)
  const code = await new Promise((resolve) => child.on('close', resolve))
  process.stdout.write(`${JSON.stringify({ code, stdout })}\n`)
}
