import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readTypedHandoffRequest } from '../../src/agents/claude-code/orders.js'
import { visibleTexts } from '../../src/model/log.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'
import { orderStage, REQUEST } from './mod-orders-stage.js'

const MODEL = 'claude-opus-4-6'

test('/handoff writes a request file, answers in one line and asks the agent for the brief', async () => {
  const it = await orderStage({ steps: ['Here is the brief.'] })
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await until('the mod has begun', () => existsSync(path.join(it.liveDir, `${session}.json`)))
  await tui.submit('/handoff mind the flaky test')
  const request = await until('the request', () => readTypedHandoffRequest(it.liveDir, session))
  expect(request).toMatchObject({ session, words: 'mind the flaky test' })
  await tui.waitFor(/fresh session (?:continues|will continue)/)
  await tui.waitFor(/Here is the brief\./)
  const [asked] = it.requestsWith(REQUEST)
  expect(visibleTexts(asked!)).toContain(`${REQUEST}\n\nThe user adds: mind the flaky test`)
  expect(it.clears()).toBe(0)
})

test.each([
  ['a command', 'home', 'commands/handoff.md', 'Do it the way I wrote.'],
  ['a skill', 'home', 'skills/handoff/SKILL.md', '---\nname: handoff\ndescription: mine\n---\nDo it the way I wrote.'],
  ['a command of the project', 'project', 'commands/handoff.md', 'Do it the way I wrote.'],
  [
    'a skill of the project',
    'project',
    'skills/handoff/SKILL.md',
    '---\nname: handoff\ndescription: mine\n---\nDo it the way I wrote.',
  ],
])("a user's own /handoff is not replaced: %s", async (_, where, file, text) => {
  const it = await orderStage({ steps: ['Done.'] })
  const root = where === 'home' ? it.home.configDir : path.join(it.home.project, '.claude')
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  writeFileSync(path.join(root, file), text)
  const tui = await startTui(it.home, { model: MODEL })
  const session = tui.sessionId()!
  await until('the mod has begun', () => existsSync(path.join(it.liveDir, `${session}.json`)))
  await tui.submit('/handoff')
  await tui.waitFor(/Done\./)
  expect(it.requestsWith('Do it the way I wrote.')).toHaveLength(1)
  expect(it.requestsWith(REQUEST)).toEqual([])
  expect(readTypedHandoffRequest(it.liveDir, session)).toBeNull()
})
