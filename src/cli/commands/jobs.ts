import { PERMISSION_MODES, RUNTIMES } from '../../contract/records/job.js'
import type { ActionHelp, Call, Cli, Command, Option } from '../command.js'
import { checkActionForm } from '../parse-call.js'

const ACTIONS = ['list', 'show', 'logs', 'pause', 'cancel', 'resume', 'forget', 'prune'] as const
type Action = (typeof ACTIONS)[number]

const options = {
  all: { type: 'boolean', about: 'list: also jobs that ended long ago' },
  follow: { type: 'boolean', short: 'f', about: 'logs: keep printing new output until the job ends, or Ctrl-C' },
  raw: { type: 'boolean', about: 'logs: the lines as the client wrote them' },
  'budget-usd': { type: 'string', value: 'X', about: 'resume: new limit of the total cost in US dollars' },
  'budget-tokens': { type: 'string', value: 'N', about: 'resume: new limit of all tokens' },
  'budget-turns': { type: 'string', value: 'N', about: 'resume: new limit of all answers of the model' },
  'budget-minutes': { type: 'string', value: 'N', about: 'resume: new limit of all minutes of work' },
  'max-handoffs': { type: 'string', value: 'N', about: 'resume: new limit of all sessions after the first' },
  'permission-mode': {
    type: 'string',
    value: 'M',
    oneOf: PERMISSION_MODES,
    about: 'resume: what the client may do without asking from now on',
  },
  detach: { type: 'boolean', about: 'resume: run in the background' },
  'output-format': {
    type: 'string',
    value: 'F',
    oneOf: ['text', 'stream-json'],
    about: 'resume: with stream-json one event per line, the result last',
  },
  verbose: { type: 'boolean', about: 'resume: print all output of the agent, all calls and their full results' },
  quiet: { type: 'boolean', short: 'q', about: 'resume: print only the result' },
  'older-than': { type: 'string', value: 'D', about: 'prune: an age (12h, 30d, 8w) or a date' },
  'dry-run': { type: 'boolean', about: 'prune: only list the jobs' },
} satisfies Record<string, Option>

const BUDGETS = ['budget-usd', 'budget-tokens', 'budget-turns', 'budget-minutes'] as const

const DELETES =
  'Deletes the record, log, journal and outputs. Sessions, briefs and archives stay (see baton archive forget), ' +
  'and so does an existing worktree.'

/** Help, number of arguments and options of each action. */
const FORMS: Record<Action, ActionHelp & { least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { summary: 'list running and recent jobs', least: 0, most: 0, options: ['all'] },
  show: { summary: 'show the sessions, handoffs, checks and cost of a job', least: 1, most: 1, options: [] },
  logs: { summary: 'print what the agent of a job said and did', least: 1, most: 1, options: ['follow', 'raw'] },
  pause: {
    summary: 'stop a job so that it can be resumed',
    about: 'Waits for the running tool calls, then ends the client. The files of the job stay as they are.',
    least: 1,
    most: 1,
    options: [],
  },
  cancel: {
    summary: 'end a job and everything it started',
    about: 'Takes at most five seconds, and also works if the process of the job died.',
    least: 1,
    most: 1,
    options: [],
  },
  resume: {
    summary: 'resume a paused or failed job, or every job whose process died',
    about:
      'Without an id, resumes every job whose process died. ' +
      'The agent is told which steps are done and which were interrupted, so that none is repeated.',
    least: 0,
    most: 1,
    options: [...BUDGETS, 'max-handoffs', 'permission-mode', 'detach', 'output-format', 'verbose', 'quiet'],
  },
  forget: { summary: 'delete an ended job', about: DELETES, least: 1, most: 1, options: [] },
  prune: {
    summary: 'delete all jobs that ended before an age or a date',
    about: DELETES,
    least: 0,
    most: 0,
    options: ['older-than', 'dry-run'],
  },
}

export const jobsCommand: Command = {
  name: 'jobs',
  summary: 'list, show, follow, pause, resume, cancel and delete jobs',
  usage: [
    'list [--all]',
    'show <id>',
    'logs <id> [--follow]',
    'pause <id>',
    'cancel <id>',
    'resume [id]',
    'forget <id>',
    'prune --older-than D [--dry-run]',
  ],
  about:
    'A job is what baton run starts: a prompt, and the sessions that work on it. ' +
    'Without an action, baton jobs lists them. Four characters of an id are enough.',
  options,
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 0, max: 2 },
  examples: [
    ['baton jobs list', 'list running and recent jobs'],
    ['baton jobs show 3f2a', 'show the progress of a job'],
    ['baton jobs logs 3f2a --follow', 'watch a running job'],
    ['baton jobs pause 3f2a', 'stop it until baton jobs resume 3f2a'],
    ['baton jobs cancel 3f2a', 'end it'],
    ['baton jobs resume', 'after a reboot: resume interrupted jobs'],
    ['baton jobs resume 3f2a --budget-usd 10', 'resume with a larger budget'],
    ['baton jobs resume 3f2a --permission-mode acceptEdits', 'resume after edits were denied'],
    ['baton jobs forget 3f2a', 'delete an ended job'],
    ['baton jobs prune --older-than 30d', 'delete jobs that ended a month ago'],
  ],
  json:
    'list: {jobs: [Job]}; show, pause, cancel: Job, as baton run --json prints it; resume: one Job per line; ' +
    'logs: the lines of the client; forget, prune: {forgotten: [{job_id, bytes, worktree_path, branch_name}], dry_run}',
  run: runJobs,
}

async function runJobs(call: Call, cli: Cli): Promise<number> {
  const action = (call.words[0] ?? 'list') as Action
  checkActionForm(jobsCommand, call, action, FORMS[action])
  switch (action) {
    case 'list':
      return (await import('./job-actions.js')).listJobsCommand(call, cli)
    case 'show':
      return (await import('./job-actions.js')).showJobCommand(call, cli)
    case 'logs':
      return (await import('./job-actions.js')).showJobLogCommand(call, cli)
    case 'pause':
      return (await import('./job-actions.js')).pauseJobCommand(call, cli)
    case 'cancel':
      return (await import('./job-actions.js')).cancelJobCommand(call, cli)
    case 'resume':
      return (await import('./job-actions.js')).resumeJobCommand(call, cli, jobsCommand)
    case 'forget':
      return (await import('./job-actions.js')).forgetJobCommand(call, cli)
    case 'prune':
      return (await import('./job-actions.js')).pruneJobsCommand(call, cli)
  }
}

export const runCommand: Command = {
  name: 'run',
  summary: 'run a task through as many sessions as it needs, until its checks pass',
  usage: ['[agent] --prompt TEXT', '[agent] --prompt-file FILE'],
  about:
    'Runs the task in sessions of your client. Before the context of a session is full, the agent writes a brief. ' +
    'Baton checks the brief, and a fresh session continues from it.\n' +
    'Each step is recorded before the client continues. After a crash, baton jobs resume therefore repeats no step. ' +
    'Ctrl-C pauses the job after the current step; a second Ctrl-C cancels it.\n' +
    'agent is an entry under agents in baton.yaml; options override it. ' +
    'Exit codes: 0 done, 1 failed, 5 stopped but resumable.',
  options: {
    prompt: { type: 'string', value: 'TEXT', about: 'the task; optional if the agent has a prompt' },
    'prompt-file': { type: 'string', value: 'FILE', about: 'read the task from a file; - reads standard input' },
    model: { type: 'string', value: 'M', about: 'the model, as the client names it' },
    'permission-mode': {
      type: 'string',
      value: 'M',
      oneOf: PERMISSION_MODES,
      about:
        'what the client may do without asking: acceptEdits (edit files) or bypassPermissions (everything). ' +
        'Other requests are denied, because nobody can answer them',
    },
    runtime: {
      type: 'string',
      value: 'R',
      oneOf: RUNTIMES,
      about: 'how the client is run (default: cli); baton doctor lists the available ones',
    },
    'max-handoffs': {
      type: 'string',
      value: 'N',
      about: 'how many sessions may follow the first (default: 3); with 0 the session compacts instead',
    },
    check: {
      type: 'string',
      value: 'CMD',
      about: 'a command that must succeed before the job is done; repeat it for several checks',
    },
    'budget-usd': { type: 'string', value: 'X', about: 'stop at this cost in US dollars' },
    'budget-tokens': { type: 'string', value: 'N', about: 'stop after this many tokens in all answers together' },
    'budget-turns': { type: 'string', value: 'N', about: 'stop after this many answers of the model' },
    'budget-minutes': { type: 'string', value: 'N', about: 'stop after this many minutes of work' },
    'resume-session': {
      type: 'string',
      value: 'ID',
      about: 'continue this session of this folder; no other process may run it',
    },
    worktree: { type: 'boolean', about: 'work in a new git worktree with its own branch' },
    'work-item': { type: 'string', value: 'T', about: 'what the job is for, such as a ticket; names the branch' },
    trust: {
      type: 'boolean',
      about:
        "accept the project's baton.yaml, as baton trust does. " +
        'Without a terminal an untrusted file is refused (exit code 4)',
    },
    detach: { type: 'boolean', about: 'run in the background and return at once' },
    'output-format': {
      type: 'string',
      value: 'F',
      oneOf: ['text', 'stream-json'],
      about: 'stream-json prints one event per line, the result last',
    },
    verbose: { type: 'boolean', about: 'print all output of the agent, all calls and their full results' },
    quiet: { type: 'boolean', short: 'q', about: 'print only the result' },
  },
  words: { min: 0, max: 1 },
  examples: [
    [
      'baton run --prompt "Make the tests pass." --check "npm test" --permission-mode acceptEdits',
      'work until the tests pass',
    ],
    ['baton run coder --work-item LIN-42 --worktree', 'run agent coder on its own branch'],
    ['baton run --prompt "Now the docs." --resume-session 3f2a9c01', 'continue an existing session'],
    ['baton run --prompt-file task.md --detach', 'run in the background'],
    ['baton run coder --verbose', 'print everything the agent does'],
    ['baton run --prompt "…" --budget-usd 5 --json', 'print one line of JSON at the end'],
  ],
  json:
    'last line {job_id, status, exit_reason, detail, sessions: [{session_id, number, steps, …}], handoffs, ' +
    'compactions, ' +
    'spend, checks: [{name, ok, exit_code, …}], result, …}; ' +
    'with --output-format stream-json one Event per line before it',
  run: startRun,
}

async function startRun(call: Call, cli: Cli): Promise<number> {
  return (await import('./run-jobs.js')).runJobsCommand(call, cli, runCommand)
}
