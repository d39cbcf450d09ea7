import { bundleSource } from '../../bench/from-source.mjs'

export const { startStepModel } = await import(await bundleSource(['../test/harness/step-model.ts']))
