import path from 'node:path'
import { bashCall, rejected } from './call.js'
import type { Labels } from './label.js'
import type { Aside } from './steps.js'
import type { Setting } from './tape.js'
import { Tools } from './tools.js'

/** Facts that a reader learns from a shell command and its output. */
export interface Shell extends Aside {
  exit?: number
  description?: string
  /** Changed paths as written in the command, relative to the shell's folder. */
  changes?: string[]
  /** Files shown by `cat` and the like: correct to report, but optional. */
  looks?: string[]
  /** Written files that the work does not depend on. */
  scratch?: string[]
  /** Outcome of a test run; `fails` and `passes` name the tests that the runner lists. */
  test?: 'passed' | 'failed'
  fails?: string[]
  passes?: string[]
  commit?: { id?: string; subject: string; amended?: string }
  merge?: string
  /** The branch that is checked out afterwards. */
  branch?: string
  /** A branch that was created or left and is not checked out at the end. */
  otherBranch?: string
  error?: string
  /** Working folder of the shell afterwards. */
  cd?: string
  timeout?: number
}

/** Builder of one scenario: a working day with its shell. */
export class Day extends Tools {
  private branch: string

  constructor(setting: Setting) {
    super(setting)
    this.branch = setting.branch
  }

  bash(command: string, out: string, more: Shell = {}): this {
    const exit = more.exit ?? 0
    const git = more.commit?.id
      ? {
          commit: {
            sha: more.commit.id,
            kind: more.commit.amended ? 'amended' : 'committed',
            branch: more.branch ?? this.branch,
          },
        }
      : more.merge
        ? { branch: { ref: more.merge, action: 'merged' } }
        : undefined
    const input = {
      ...(more.timeout ? { timeout: more.timeout } : {}),
      ...(more.description ? { description: more.description } : {}),
    }
    const from = this.tape.cwd
    if (more.cd !== undefined && exit === 0) this.tape.cwd = path.resolve(from, more.cd)
    const learn = (_: number, line: number): void => this.learn(command, more, exit, line, from)
    return this.call({ ...bashCall(command, out, exit, { input, git }), learn }, more)
  }

  private learn(command: string, more: Shell, exit: number, line: number, from: string): void {
    this.label('command', command, exit === 0 ? 'ok' : 'failed', { line })
    const inside = more.cd !== undefined ? path.resolve(from, more.cd) : from
    for (const file of more.changes ?? []) this.file(path.resolve(inside, file), 'changed', line)
    for (const file of more.looks ?? []) this.file(path.resolve(inside, file), 'read', line, true)
    for (const file of more.scratch ?? []) this.file(path.resolve(inside, file), 'changed', line, true)
    if (more.test) this.label('test', command, more.test, { line })
    for (const name of more.fails ?? []) this.label('test', name, 'failed', { line })
    for (const name of more.passes ?? []) {
      const known = this.sheet.find('test', name)
      this.label('test', name, 'passed', known && !known.optional ? { line } : { line, optional: true })
    }
    if (more.branch) this.moveTo(more.branch)
    if (more.otherBranch) this.label('branch', more.otherBranch, null, { line, optional: true })
    if (more.commit) this.committed(more.commit, line)
    if (more.merge)
      this.label('commit', `Merge branch '${more.merge}'`, null, { line, optional: true, note: 'made by a merge' })
    if (more.error) this.label('error', more.error, null, { line })
  }

  private committed(commit: NonNullable<Shell['commit']>, line: number): void {
    const old = commit.amended === undefined ? undefined : this.sheet.find('commit', commit.amended)
    if (old) {
      this.sheet.remove(old)
      if (commit.amended !== commit.subject) this.sheet.decoy('commit', commit.amended!, 'amended away')
    }
    this.label('commit', commit.subject, null, { line, ...(commit.id ? { id: commit.id } : {}) })
  }

  /** Adds a second commit made by the previous command. */
  alsoCommitted(subject: string, id?: string): this {
    this.label('commit', subject, null, id ? { id } : {})
    return this
  }

  private moveTo(branch: string): void {
    if (branch !== this.branch) this.label('branch', this.branch, null, { optional: true, note: 'left' })
    this.branch = branch
  }

  /** Runs a command in the background. `end` is the client's later notice about it, if any. */
  background(
    command: string,
    more: Aside & { description?: string; end?: { exit: number; after?: () => void } } = {},
  ): this {
    const taskId = `b${this.tape.ids.word(8)}`
    const text =
      `Command running in background with ID: ${taskId}. Output is being written to: ${this.outputFile(taskId)}. ` +
      'You will be notified when it completes. To check interim output, use Read on that file path.'
    const result = {
      stdout: '',
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
      backgroundTaskId: taskId,
    }
    const input = { command, run_in_background: true, ...(more.description ? { description: more.description } : {}) }
    let toolId = ''
    const learn = (_: number, line: number, id: string): void => {
      toolId = id
      this.label('command', command, 'running', { line })
    }
    this.call({ name: 'Bash', input, content: text, error: false, result, sandboxed: false, learn }, more)
    if (more.end === undefined) return this
    more.end.after?.()
    const { exit } = more.end
    const how = exit === 0 ? 'completed' : 'failed'
    this.notice(
      taskId,
      toolId,
      how,
      `Background command "${more.description ?? command}" ` +
        `${exit === 0 ? 'completed (exit code 0)' : `failed with exit code ${exit}`}`,
    )
    this.label('command', command, exit === 0 ? 'ok' : 'failed')
    return this
  }

  timesOut(command: string, seconds: number, out = '', more: Shell = {}): this {
    return this.bash(command, `Command timed out after ${seconds}s${out && `\n${out}`}`, {
      ...more,
      exit: 143,
      timeout: seconds * 1000,
    })
  }

  /** Runs a command that the user stops, so that its outcome is unknown. */
  interrupted(command: string, aside: Aside = {}): this {
    const learn = (line: number): void =>
      this.label('command', command, 'unknown', { line, optional: true, note: 'stopped by the user' })
    this.call({ ...rejected('Bash', { command }), learn }, aside)
    this.stopped()
    return this
  }

  done(): { jsonl: string; labels: Labels } {
    this.label('branch', this.branch, null)
    Object.assign(this.sheet.find('branch', this.branch)!, { optional: undefined, note: undefined })
    const { name, about, language = 'en', cwd } = this.setting
    const facts = this.sheet.facts.map((fact) => JSON.parse(JSON.stringify(fact)))
    return {
      jsonl: `${this.tape.lines.join('\n')}\n`,
      labels: { name, about, language, cwd, facts, decoys: this.sheet.decoys },
    }
  }
}

export type Scenario = Setting & { day: (day: Day) => void }

export function build(scenario: Scenario): { jsonl: string; labels: Labels } {
  const { day: play, ...setting } = scenario
  const day = new Day(setting)
  play(day)
  return day.done()
}
