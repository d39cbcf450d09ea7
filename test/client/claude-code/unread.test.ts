import { expect, onTestFinished, test } from 'vitest'
import { countOccurrences } from '../../../src/model/log.js'
import { startModel } from '../../../src/model/model.js'
import { makeHome } from '../../harness/home.js'
import { runPrint } from '../../harness/run-print.js'

const ANSWER = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'HEARD' } })

test('the client accepts the answer of a hook that leaves most of its input unread, without an error', async () => {
  const large = [...'abcdefghijklmn'].map((sign) => `head -c 28000 /dev/zero | tr '\\0' '${sign}'`)
  const model = await startModel({
    script: {
      steps: [
        { bash: large, used: 50_008 },
        { bash: large, used: 60_008 },
        { text: 'Done.', used: 61_008 },
      ],
    },
  })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  const command = `head -c 100 >/dev/null; echo '${ANSWER}'`
  home.settings({ hooks: { PostToolBatch: [{ hooks: [{ type: 'command', command }] }] } })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  expect(home.transcript(run.sessionId!)).not.toMatch(/hook_(non_)?blocking_error|hook_cancelled|EPIPE/)
  const main = model.log().filter((entry) => entry.kind === 'main')
  expect(main.map((entry) => countOccurrences(entry, 'HEARD'))).toEqual([0, 1, 2])
})
