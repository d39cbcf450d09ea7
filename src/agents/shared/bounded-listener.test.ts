import { expect, test } from 'vitest'
import { recordingListener } from '../../jobs/runtimes/recorded-session.cases.js'
import { boundedListener } from './bounded-listener.js'

const CALL = { id: 't1', name: 'Bash', input: {}, subagent: null }
const never = (): Promise<never> => new Promise(() => {})

test('an answer within the time limit is passed on', async () => {
  const bounded = boundedListener(recordingListener({ afterBatch: async () => ({ stop: 'full' }) }), () => {})
  expect(await bounded.afterBatch([])).toEqual({ stop: 'full' })
})

test('a listener that is late or throws yields an empty answer, and the log names it', async () => {
  const said: string[] = []
  const broken = boundedListener(
    {
      beforeTool: () => {
        throw new Error('at once')
      },
      afterTool: () => Promise.reject(new Error('later')),
      afterBatch: never,
      beforeCompaction: never,
      afterCompaction: never,
    },
    (level, text, fields) => said.push(`${level} ${fields?.ear} ${fields?.reason ?? text}`),
    20,
  )
  expect(await broken.beforeTool(CALL)).toEqual({})
  expect(await broken.afterTool({ ...CALL, result: '', failed: false })).toBeUndefined()
  expect([await broken.afterBatch([]), await broken.beforeCompaction('auto'), await broken.afterCompaction()]).toEqual([
    {},
    {},
    {},
  ])
  expect(said.slice(0, 2)).toEqual(['warn beforeTool at once', 'warn afterTool later'])
  expect(said.slice(2).every((line) => line.includes('within 20 ms'))).toBe(true)
  expect(said).toHaveLength(5)
})
