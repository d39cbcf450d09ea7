import { vi } from 'vitest'
import { cliRuntime } from '../../src/jobs/runtimes/cli.js'
import { type Plan, runtimeCases } from '../../src/jobs/runtimes/runtime.cases.js'
import { clientBinary } from '../harness/places.js'
import { realPlace } from './runtime-place.js'
import { realCases } from './runtime-real.cases.js'

vi.setConfig({ testTimeout: 90_000 })

const place = (plan: Plan) =>
  realPlace(plan, async () => cliRuntime({ binary: clientBinary(), ...(plan.earMs === undefined ? {} : { earMs: plan.earMs }) }))

runtimeCases(place)
realCases(place)
