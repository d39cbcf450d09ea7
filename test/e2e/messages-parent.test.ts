import { expect, test, vi } from 'vitest'
import { copies } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { startTui } from '../harness/tui.js'
import { pause, until } from '../harness/wait.js'
import { mainRequests, stage } from './stage.js'

vi.setConfig({ testTimeout: 90_000 })

const MODEL = 'claude-opus-4-6'

test('an idle parent hears of its child’s compaction', async () => {
  const it = await stage({
    rest: { text: 'Heard.', used: 20_008 },
    conversations: [
      {
        when: 'child work',
        steps: [
          { bash: 'echo a', used: 120_008 },
          { bash: 'echo b', used: 168_008 },
          { text: 'Never asked.', used: 169_008 },
        ],
        after_compaction: [{ bash: 'echo c', used: 30_008 }, 'Child done.'],
        summary: 'The child works.',
      },
    ],
  })
  const tui = await startTui(it.home, {
    model: MODEL,
    args: ['--permission-mode', 'bypassPermissions'],
    env: { BATON_SEAT: 'lead' },
  })
  await tui.submit('hello')
  await tui.waitIdle()
  await pause(300)
  const lead = tui.sessionId()!
  const child = await runPrint(it.home, {
    prompt: 'child work',
    model: MODEL,
    env: { BATON_SEAT: 'child', BATON_PARENT_SEAT: 'lead' },
  })
  expect(child.code).toBe(0)
  const heard = (text: string) => mainRequests(it.model, lead).filter((entry) => copies(entry, text) > 0)
  await until('the parent is asked', () => heard('was compacted and is still running').length > 0, 20_000)
  expect(copies(heard('was compacted and is still running').at(-1)!, 'was compacted and is still running')).toBe(1)
  await until('it is delivered', async () =>
    (await it.messages()).some((m) => m.session_id === null && m.category === 'compaction' && m.status === 'delivered'),
  )
})
