import { vi } from 'vitest'
import { runtimeCases } from '../../src/jobs/runtimes/runtime.cases.js'
import { openSdkRuntime } from '../../src/jobs/runtimes/sdk.js'
import { clientBinary } from '../harness/places.js'
import { realPlace } from './runtime-place.js'

vi.setConfig({ testTimeout: 90_000 })

runtimeCases((plan) =>
  realPlace(plan, (home) =>
    openSdkRuntime({ project: home.project, binary: clientBinary(), ...(plan.earMs === undefined ? {} : { earMs: plan.earMs }) }),
  ),
)
