import { RUNTIMES } from '../../contract/job.js'
import type { Call, Cli, Command } from '../command.js'

export const command: Command = {
  name: 'run',
  summary: 'carry a task through as many sessions as it needs, until it is done and checked',
  usage: ['[agent] --prompt TEXT', '[agent] --prompt-file FILE'],
  about:
    'Runs the task in sessions of your client. Before a session is full it writes a brief, which is checked, and a fresh one goes on from it. ' +
    'What it did is written down before the client goes on, so that after a crash baton jobs resume goes on without doing a step twice. ' +
    'Ctrl-C pauses it after the present step and says how to go on; a second one cancels it. ' +
    'An agent is an entry under agents in baton.yaml; options win over what stands there. Ends with 0 done, 1 failed, 5 stopped but resumable.',
  options: {
    prompt: { type: 'string', value: 'TEXT', about: 'the task (an agent may have its own)' },
    'prompt-file': { type: 'string', value: 'FILE', about: 'the task from a file; - is standard input' },
    model: { type: 'string', value: 'M', about: 'the model, as the client names it' },
    'permission-mode': {
      type: 'string',
      value: 'M',
      about: 'what the client may do unasked, such as acceptEdits; nobody is there to be asked, so everything else is refused',
    },
    runtime: {
      type: 'string',
      value: 'R',
      oneOf: RUNTIMES,
      about: 'cli (as without it), sdk or scripted; baton doctor says which are there',
    },
    'max-handoffs': { type: 'string', value: 'N', about: 'how many sessions may follow the first (3); 0: it is left to compact' },
    check: {
      type: 'string',
      value: 'CMD',
      about: 'a command that must succeed before the task counts as done; may be given several times',
    },
    'budget-usd': { type: 'string', value: 'X', about: 'stop when so much is spent' },
    'budget-tokens': { type: 'string', value: 'N', about: 'stop when so many tokens are used over all answers' },
    'budget-turns': { type: 'string', value: 'N', about: 'stop after so many answers of the model' },
    'budget-minutes': { type: 'string', value: 'N', about: 'stop after so many minutes of work' },
    worktree: { type: 'boolean', about: 'work in a git worktree and a branch of its own' },
    'work-item': { type: 'string', value: 'T', about: 'what it is for, such as a ticket; names the branch' },
    detach: { type: 'boolean', about: 'run in the background and return at once' },
    'output-format': {
      type: 'string',
      value: 'F',
      oneOf: ['text', 'stream-json'],
      about: 'stream-json: one event a line, the result last',
    },
    quiet: { type: 'boolean', short: 'q', about: 'print only how it ended' },
  },
  words: { min: 0, max: 1 },
  examples: [
    ['baton run --prompt "Make the tests pass." --check "npm test" --permission-mode acceptEdits', 'until the tests really pass'],
    ['baton run coder --work-item LIN-42 --worktree', 'an agent of baton.yaml, on a branch of its own'],
    ['baton run --prompt-file task.md --detach', 'in the background; baton jobs logs --follow shows it'],
    ['baton run --prompt "…" --budget-usd 5 --json', 'for a script: one line of JSON at the end'],
  ],
  json:
    'last line {job_id, status, exit_reason, detail, sessions: [{session_id, number, steps, …}], handoffs, compactions, spend, ' +
    'checks: [{name, ok, exit_code, …}], result, …}; with --output-format stream-json one Event a line before it',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return (await import('../jobs/run.js')).run(call, cli, command)
}
