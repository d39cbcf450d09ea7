import { onTestFinished } from 'vitest'
import type { Runtime } from '../../src/contract/runtime.js'
import type { Plan, PlanStep, RuntimePlace } from '../../src/jobs/runtimes/runtime.cases.js'
import { visibleTexts } from '../../src/model/log.js'
import { type Model, startModel } from '../../src/model/model.js'
import type { StepInput } from '../../src/model/script.js'
import { type Home, makeHome } from '../harness/home.js'
import { mainRequests } from '../harness/stage.js'

export interface RealPlace extends RuntimePlace {
  home: Home
  model: Model
}

/** The real client with the scripted model in an isolated home. */
export async function realPlace(plan: Plan, open: (home: Home, plan: Plan) => Promise<Runtime>): Promise<RealPlace> {
  const model = await startModel({
    script: {
      steps: plan.steps.map(stepOf),
      replies: plan.replies ?? [],
      ...(plan.afterCompaction ? { after_compaction: plan.afterCompaction.map(stepOf), summary: 'A summary.' } : {}),
    },
  })
  onTestFinished(() => model.close())
  const home = makeHome({
    model,
    env: plan.retries === undefined ? {} : { CLAUDE_CODE_MAX_RETRIES: String(plan.retries) },
  })
  return {
    runtime: await open(home, plan),
    cwd: home.project,
    env: home.env,
    requests: () => mainRequests(model).map((entry) => visibleTexts(entry).join('\n')),
    home,
    model,
  }
}

function stepOf({ text, run, background, used, fail }: PlanStep): StepInput {
  return {
    ...(text === undefined ? {} : { text }),
    ...(run === undefined ? {} : { bash: run }),
    ...(background === undefined
      ? {}
      : { tools: [{ name: 'Bash', input: { command: background, run_in_background: true } }] }),
    ...(used === undefined ? {} : { used }),
    ...(fail === undefined
      ? {}
      : { fail: { kind: fail, times: fail === 'hang' || fail === 'stall' ? 1 : ('always' as const) } }),
  }
}
