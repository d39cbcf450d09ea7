import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished, type TestFunction, test } from 'vitest'
import { PREFIX } from './paths.js'

/**
 * The uid and gid that attacks run as: `nobody` on Debian. Any id other than the test's own works.
 */
export const OTHER_UID = 65_534

export const isRoot = process.getuid?.() === 0

export interface Outcome {
  /** Null when the process was ended by a signal. */
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Declares an attack by another user of the machine. Only root can start processes of another user;
 * elsewhere the attack is skipped and its name is printed, so that a report never hides what was
 * not run.
 */
export function attackAsOtherUser(name: string, attack: TestFunction, timeoutMs?: number): void {
  if (!isRoot) console.warn(`attack not run, because it needs root: ${name}`)
  test.skipIf(!isRoot)(name, attack, timeoutMs)
}

/** Runs a program as the other user, with an environment of its own. Ends it with the test. */
export function runAsOtherUser(
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string>; stdin?: string } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      uid: OTHER_UID,
      gid: OTHER_UID,
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/nonexistent', ...options.env },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (data) => {
      stdout += data
    })
    child.stderr.on('data', (data) => {
      stderr += data
    })
    // A program that ends without reading its input closes the pipe; its exit code is what counts.
    child.stdin.on('error', () => {})
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.end(options.stdin ?? '')
  })
}

/**
 * Runs JavaScript (a module's source) as the other user and returns what it printed as JSON. Throws
 * if it failed.
 */
export async function evaluateAsOtherUser<T>(source: string): Promise<T> {
  const { code, stdout, stderr } = await runAsOtherUser(process.execPath, ['--input-type=module', '-e', source])
  if (code !== 0) throw new Error(`the attacker's program exited with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

export interface RawRequest {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: string
}

/** Sends requests one after the other as the other user. Returns status and body of each. */
export function requestAsOtherUser(...requests: RawRequest[]): Promise<{ status: number; body: string }[]> {
  return evaluateAsOtherUser(`
    const answers = []
    for (const { url, ...init } of ${JSON.stringify(requests)}) {
      const response = await fetch(url, init)
      answers.push({ status: response.status, body: await response.text() })
    }
    console.log(JSON.stringify(answers))`)
}

/**
 * Makes a folder that belongs to the other user and that everybody can read. Removed with the test.
 */
export function folderOfOtherUser(): string {
  const base = mkdtempSync(path.join(os.tmpdir(), PREFIX))
  chmodSync(base, 0o755)
  chownSync(base, OTHER_UID, OTHER_UID)
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  return base
}
