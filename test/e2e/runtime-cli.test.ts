import { vi } from 'vitest'
import { cliRuntime } from '../../src/jobs/runtimes/cli.js'
import { runtimeCases } from '../../src/jobs/runtimes/runtime.cases.js'
import { clientBinary } from '../harness/places.js'
import { realPlace } from './runtime-place.js'

vi.setConfig({ testTimeout: 90_000 })

runtimeCases((plan) =>
  realPlace(plan, async () => cliRuntime({ binary: clientBinary(), ...(plan.earMs === undefined ? {} : { earMs: plan.earMs }) })),
)
