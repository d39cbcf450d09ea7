import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { trialHome } from '../testing/config-home.js'
import { agent } from './agent-schema.js'
import { configSchema } from './schema.js'

const ROOT = join(import.meta.dirname, '..', '..')
const example = readFileSync(join(ROOT, 'examples', 'config.yaml'), 'utf8')

let trial: ReturnType<typeof trialHome>
beforeEach(() => {
  trial = trialHome()
})
afterEach(() => trial.remove())

test('the example loads without a problem as a user file and as a project file', () => {
  trial.putUser(example)
  expect(trial.load().problems).toEqual([])
  trial.putProject(example)
  expect(trial.load().problems).toEqual([])
})

test('the example shows every key except those of projects, older designs and later versions', () => {
  const others = ['agents', 'context_monitor', 'prices']
  const known = Object.keys(configSchema.pipe[1].entries).filter((key) => !others.includes(key))
  expect(Object.keys(parse(example)).sort()).toEqual(known.sort())
})

test('the example with agents loads without a problem or a note, and shows every key of an agent', () => {
  const agents = readFileSync(join(ROOT, 'examples', 'baton.yaml'), 'utf8')
  trial.putProject(agents)
  expect(trial.load()).toMatchObject({ problems: [], notes: [] })
  const shown = new Set((parse(agents) as { agents: object[] }).agents.flatMap((each) => Object.keys(each)))
  const known = Object.keys(agent.pipe[1].entries).filter((key) => key !== 'tools' && key !== 'levels')
  expect([...shown].sort()).toEqual(known.sort())
})

test('the documentation of agents names every key, and its example loads', () => {
  const page = readFileSync(join(ROOT, 'docs', 'jobs-configuration.md'), 'utf8')
  const { session, workspace, ...rest } = agent.pipe[1].entries
  const inner = [session, workspace].flatMap((map) => Object.keys(map.wrapped.pipe[1].entries))
  for (const key of [...Object.keys(rest), ...inner]) expect(page).toContain(`\`${key}\``)
  const [, block] = /```yaml\n([\s\S]*?)```/.exec(page)!
  trial.putProject(block!)
  expect(trial.load().problems).toEqual([])
  for (const [, json] of page.matchAll(/```json\n([\s\S]*?)```/g)) expect(() => JSON.parse(json!)).not.toThrow()
})

test('every complete file in the configuration reference loads without a problem', () => {
  const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8')
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!)
  expect(blocks.length).toBeGreaterThanOrEqual(5)
  for (const block of blocks) {
    trial.putProject(block)
    expect({ block, problems: trial.load().problems }).toEqual({ block, problems: [] })
  }
})

test('the configuration reference names every key', () => {
  const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8')
  for (const key of Object.keys(configSchema.pipe[1].entries)) expect(page).toContain(`\`${key}\``)
})
