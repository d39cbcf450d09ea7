import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JobFlags } from '../../config/resolve-agent.js'
import type { JobBudgets, JobRecord, RuntimeName } from '../../contract/job.js'
import type { House } from '../../house.js'
import { newJob } from '../../jobs/new-job.js'
import { reasonOf } from '../../lib/errors.js'
import { processInfo } from '../../lib/process-info.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { readInput } from '../read-input.js'
import { tellDetached } from './detach.js'
import { IN_RUNNER, runHere } from './run-here.js'
import { settleOrder } from './start-job.js'

const FIRST_BYTE_MS = 30_000
const WHOLE_MS = 60_000

export async function run(call: Call, cli: Cli, command: Command): Promise<number> {
  const order = { folder: cli.cwd, agentName: call.words[0] ?? null, flags: await flagsOf(call, cli, command) }
  const spec = await settleOrder(order, cli)
  return inHouse(
    cli,
    async (house) => {
      const at = house.now().toISOString()
      // Ours from the first moment: a server that starts just then leaves it alone.
      const runner = call.flag('detach') ? null : ownIdentity()
      const { jobId } = newJob(house.store, { spec, parentSeatId: callerOf(house, cli), runner }, at, house.newId)
      return call.flag('detach') ? tellDetached(house, cli, call, [jobId]) : runHere(house, cli, call, [jobId])
    },
    IN_RUNNER,
  )
}

function ownIdentity(): JobRecord['runner'] {
  const { pid, startedAt } = processInfo(process.pid)!
  return { pid, startedAt }
}

/** The seat this is run in: that of the session whose command it is, else the one the environment names; null: a person's own. */
function callerOf({ store }: House, { env }: Cli): string | null {
  const session = env.CLAUDE_CODE_SESSION_ID ? store.session(env.CLAUDE_CODE_SESSION_ID) : null
  if (session !== null) return session.seatId
  for (const name of [env.BATON_SEAT, env.BATON_PARENT_SEAT]) {
    const seat = name ? (store.seatNamed(name) ?? store.seat(name)) : null
    if (seat) return seat.seatId
  }
  return null
}

async function flagsOf(call: Call, cli: Cli, command: Command): Promise<JobFlags> {
  const prompt = await promptOf(call, cli, command)
  const checks = call.values('check')
  if (checks.some((check) => check.trim() === '')) throw wrong(command, '--check is empty.', 'Give a command that must succeed.')
  const maxHandoffs = figureOf(call, command, 'max-handoffs')
  return {
    ...(prompt === null ? {} : { prompt }),
    ...given('model', call.value('model')),
    ...given('permissionMode', call.value('permission-mode')),
    ...given('runtime', call.value('runtime') as RuntimeName | null),
    ...given('workItem', call.value('work-item')),
    ...given('maxHandoffs', maxHandoffs),
    ...(checks.length > 0 ? { checks } : {}),
    budgets: budgetsOf(call, command),
    ...(call.flag('worktree') ? { worktree: true } : {}),
  }
}

function given<K extends string, V>(key: K, value: V | null): { [key in K]?: V } {
  return (value === null ? {} : { [key]: value }) as { [key in K]?: V }
}

/** Those that are given. */
export function budgetsOf(call: Call, command: Command): Partial<JobBudgets> {
  return {
    ...given('usd', figureOf(call, command, 'budget-usd')),
    ...given('tokens', figureOf(call, command, 'budget-tokens')),
    ...given('turns', figureOf(call, command, 'budget-turns')),
    ...given('minutes', figureOf(call, command, 'budget-minutes')),
  }
}

/** null: not given. Money may be a fraction; handoffs may be none. */
export function figureOf(call: Call, command: Command, name: `budget-${keyof JobBudgets}` | 'max-handoffs'): number | null {
  const written = call.value(name)
  if (written === null) return null
  const figure = Number(written)
  const money = name === 'budget-usd'
  const least = name === 'max-handoffs' ? 0 : 1
  const ok = Number.isFinite(figure) && (money ? figure >= 0.01 : Number.isSafeInteger(figure) && figure >= least)
  if (!ok)
    throw wrong(
      command,
      `--${name} cannot be "${written}".`,
      money ? 'Give an amount of US dollars, such as 5 or 0.5.' : 'Give a whole number, such as 3.',
    )
  return figure
}

async function promptOf(call: Call, cli: Cli, command: Command): Promise<string | null> {
  const [text, file] = [call.value('prompt'), call.value('prompt-file')]
  if (text !== null && file !== null) throw wrong(command, 'Give either --prompt or --prompt-file.')
  if (file === null) return text
  if (file === '-') return readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS)
  try {
    return readFileSync(resolve(cli.cwd, file), 'utf8')
  } catch (error) {
    throw wrong(command, `--prompt-file ${file} cannot be read: ${reasonOf(error)}.`, 'Give a file that is there.')
  }
}
