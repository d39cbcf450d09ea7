import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome, sendReading } from '../testing/cli-home.js'

const A = 'aaaaaaaa-ef1f-4334-9716-3be98836406b'

test('forgetting a session deletes the long messages it received, but none that still wait', async () => {
  const fixture = createTestHome()
  fixture.fill((app) => sendReading(app, { session: A, project: fixture.project }))
  const long = (word: string) => `${word} ${'x'.repeat(20_000)}`
  await fixture.run(['send', A, long('given')])
  await fixture.run(['send', A, long('waiting')])
  const root = fixture.fill((app) => app.home.root)
  const outbox = join(root, 'outbox')
  mkdirSync(join(outbox, `${A}.taken.7`), { recursive: true })
  fixture.fill((app) => {
    const [one] = app.store.messages({ limit: 10 }).filter((m) => m.agent_text?.includes('given'))
    app.store.transaction(() => app.store.putMessage({ ...one!, status: 'delivered', sent_to: A }))
  })
  const files = () =>
    readdirSync(join(root, 'messages')).map((name) => readFileSync(join(root, 'messages', name), 'utf8').slice(0, 7))
  expect(files().sort()).toEqual(['given x', 'waiting'])
  expect(await fixture.run(['archive', 'forget', 'aaaa'])).toMatchObject({ code: 0 })
  expect(files()).toEqual(['waiting'])
  expect(readdirSync(outbox).filter((name) => name.includes(A))).toEqual([])
  const { messages } = (await fixture.run(['messages', '--json'])).json
  expect(messages.map((m: { agent_text: string | null }) => m.agent_text?.includes('waiting') ?? null).sort()).toEqual([
    null,
    true,
  ])
})
