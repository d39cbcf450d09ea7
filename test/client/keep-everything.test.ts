import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alive } from '../harness/processes.js'
import { runPrint } from '../harness/run-print.js'
import { stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

interface Recalled {
  hits: { session_id: string; text: string }[]
  unread: unknown[]
}

const MODEL = 'claude-opus-4-6'

test('recall finds a session that ended and one that was killed', async () => {
  const it = await stage({
    steps: [{ text: 'The heron nests in spring.', used: 20_008 }],
    conversations: [{ when: 'about the stork', steps: [{ text: 'The stork leaves in August.', used: 21_008 }] }],
  })
  const first = await startTui(it.home, { model: MODEL })
  const ended = first.sessionId()!
  await first.submit('Tell me about the heron')
  await first.waitFor(/nests in spring/)
  await first.exit()

  const second = await startTui(it.home, { model: MODEL })
  const killed = second.sessionId()!
  await second.submit('Tell me about the stork')
  await second.waitFor(/leaves in August/)
  const { transcript_path: transcript } = await until('its transcript is known', async () => {
    const shown = await it.show(killed)
    return shown.transcript_path === null ? null : shown
  })
  // The client writes its transcript shortly after it shows the answer.
  await until('the answer is on the disk', () => readFileSync(transcript!, 'utf8').includes('leaves in August'))
  const { pid } = second.registry()!
  process.kill(pid, 'SIGKILL')
  await until('the client is gone', () => second.registry() === null || !alive(pid))

  const heron = await it.json<Recalled>('recall', 'heron')
  expect(heron.hits.map(({ session_id }) => session_id)).toContain(ended)
  const stork = await it.json<Recalled>('recall', 'stork')
  expect(stork.hits.map(({ session_id }) => session_id)).toContain(killed)
  expect(stork.unread).toEqual([])
  const { archives } = await it.ask<{ archives: { session_id: string; trigger: string }[] }>('archive', 'list')
  expect(new Set(archives.map(({ session_id, trigger }) => `${session_id} ${trigger}`))).toEqual(
    new Set([`${ended} session-end`, `${killed} sweep`]),
  )
})

test('a headless run that was never compacted is not archived', async () => {
  const it = await stage({ steps: [{ text: 'The heron nests in spring.', used: 20_008 }] })
  const run = await runPrint(it.home, { prompt: 'Tell me about the heron', model: MODEL })
  expect(run.result).toMatchObject({ is_error: false })
  expect(await it.json<Recalled>('recall', 'heron')).toMatchObject({ hits: [], unread: [] })
})
