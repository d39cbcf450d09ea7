import { cliRuntime } from '../../src/agents/claude-code/runtime/cli-runtime.js'
import { type Plan, runtimeCases } from '../../src/jobs/runtimes/runtime.cases.js'
import { clientBinary } from '../harness/paths.js'
import { realPlace } from './runtime-place.js'
import { realCases } from './runtime-real.cases.js'

const place = (plan: Plan) =>
  realPlace(plan, async () =>
    cliRuntime({ binary: clientBinary(), ...(plan.answerMs === undefined ? {} : { answerMs: plan.answerMs }) }),
  )

runtimeCases(place)
realCases(place)
