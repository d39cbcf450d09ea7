import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'
import type { Call, Cli } from '../command.js'
import { screenOf } from '../render/screen.js'
import { runMain } from '../run-main.js'
import { offerImport } from './import.js'

const ID = '11111111-ef1f-4334-9716-3be98836406b'

async function installed() {
  const fixture = createTestHome()
  const folder = join(fixture.user, '.claude', 'projects', '-shop')
  mkdirSync(folder, { recursive: true })
  const line = { type: 'user', cwd: '/shop', entrypoint: 'cli', message: { role: 'user', content: 'the heron' } }
  writeFileSync(join(folder, `${ID}.jsonl`), `${JSON.stringify(line)}\n`)
  const printed: string[] = []
  const cli: Cli = {
    env: fixture.env,
    cwd: fixture.project,
    program: join(import.meta.dirname, '../../../dist'),
    screen: screenOf({ isTTY: false, columns: 80 } as never, {}),
    print: (text) => void printed.push(text),
    note() {},
    now: () => new Date(),
  }
  await runMain(['install'], cli)
  const offer = async (answer: boolean | null): Promise<string[]> => {
    const questions: string[] = []
    const ask = async (question: string): Promise<boolean> => {
      questions.push(question)
      return answer === true
    }
    await offerImport({ json: false } as Call, cli, answer === null ? null : ask)
    return questions
  }
  const archives = async (): Promise<unknown[]> => (await fixture.run(['archive', 'list', '--json'])).json.archives
  return { printed, offer, archives }
}

test('install without a terminal names the size and the command, and imports nothing', async () => {
  const it = await installed()
  expect(it.printed.join('\n')).toMatch(/baton import to archive 1 transcript of earlier sessions \(\d+ B\)/)
  expect(await it.archives()).toEqual([])
})

test('install asks once, and imports after a yes', async () => {
  const it = await installed()
  expect(await it.offer(true)).toEqual([expect.stringMatching(/Archive 1 transcript of earlier sessions \(\d+ B\)/)])
  expect(it.printed.at(-1)).toMatch(/^Imported 1 transcript/)
  expect(await it.archives()).toMatchObject([{ session_id: ID, trigger: 'import' }])
})

test('install asks once, and after a no it imports nothing and does not ask again', async () => {
  const it = await installed()
  expect(await it.offer(false)).toHaveLength(1)
  expect(await it.offer(true)).toEqual([])
  expect(await it.archives()).toEqual([])
})
