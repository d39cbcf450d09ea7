import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createConfigHome } from '../testing/config-home.js'
import { agent } from './agent-schema.js'
import { configSchema } from './schema.js'

const ROOT = join(import.meta.dirname, '..', '..')
const example = readFileSync(join(ROOT, 'examples', 'config.yaml'), 'utf8')

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

test('the example loads without a problem as a user file and as a project file', () => {
  fixture.putUser(example)
  expect(fixture.load().problems).toEqual([])
  fixture.putProject(example)
  expect(fixture.load().problems).toEqual([])
})

test('the example shows every key except those of projects, older designs and later versions', () => {
  const others = ['agents', 'context_monitor', 'prices']
  const known = Object.keys(configSchema.pipe[1].entries).filter((key) => !others.includes(key))
  expect(Object.keys(parse(example)).sort()).toEqual(known.sort())
})

test('the example with agents loads without a problem or a note, and shows every key of an agent', () => {
  const agents = readFileSync(join(ROOT, 'examples', 'baton.yaml'), 'utf8')
  fixture.putProject(agents)
  expect(fixture.load()).toMatchObject({ problems: [], notes: [] })
  const shown = new Set((parse(agents) as { agents: object[] }).agents.flatMap((each) => Object.keys(each)))
  const known = Object.keys(agent.pipe[1].entries).filter((key) => key !== 'tools' && key !== 'levels')
  expect([...shown].sort()).toEqual(known.sort())
})

test('the documentation of agents names every key, and its example loads', () => {
  const page = readFileSync(join(ROOT, 'docs', 'reference', 'job-configuration.md'), 'utf8')
  const { session, workspace, ...rest } = agent.pipe[1].entries
  const inner = [session, workspace].flatMap((map) => Object.keys(map.wrapped.pipe[1].entries))
  for (const key of [...Object.keys(rest), ...inner]) expect(page).toContain(`\`${key}\``)
  const [, block] = /```yaml\n([\s\S]*?)```/.exec(page)!
  fixture.putProject(block!)
  expect(fixture.load().problems).toEqual([])
  for (const [, json] of page.matchAll(/```json\n([\s\S]*?)```/g)) expect(() => JSON.parse(json!)).not.toThrow()
})
