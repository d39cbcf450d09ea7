import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { SKILL_DESCRIPTION } from '../../src/briefs/brief-skill.js'
import { countOccurrences } from '../../src/model/log.js'
import { BATON } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const MODEL = 'claude-opus-4-6'

test('the client lists the handoff skill to the agent while Baton is installed, and not afterwards', async () => {
  const it = await stage({ rest: { text: 'Fine.', used: 20_008 } })
  const run = () => runPrint(it.home, { prompt: 'go', model: MODEL })
  expect(await run()).toMatchObject({ code: 0 })
  expect(countOccurrences(mainRequests(it.model)[0]!, 'baton:brief')).toBeGreaterThan(0)
  expect(countOccurrences(mainRequests(it.model)[0]!, SKILL_DESCRIPTION)).toBe(1)
  await it.json('uninstall')
  expect(existsSync(path.join(it.home.configDir, 'skills', 'baton'))).toBe(false)
  await run()
  expect(countOccurrences(mainRequests(it.model).at(-1)!, SKILL_DESCRIPTION)).toBe(0)
})

test('with the permission rule of install an agent gives its brief without a dialog', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'baton handoff brief.md --json', used: 20_008 },
        { text: 'Handed over.', used: 21_008 },
      ],
      rest: { text: 'Going on.', used: 22_008 },
    },
    { handoff: true },
  )
  const bin = path.join(it.home.dir, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`)
  chmodSync(path.join(bin, 'baton'), 0o755)
  it.home.env.PATH = `${bin}:${it.home.env.PATH}`
  writeFileSync(
    path.join(it.home.project, 'brief.md'),
    '# Handoff brief\n\n## Goal and why\nGreet.\n\n## Next exact step\nGreet again.\n',
  )
  await it.json('install', '--allow-handoff')
  const tui = await startTui(it.home, { model: MODEL, bypass: false, args: ['--permission-mode', 'default'] })
  await tui.submit('hand over')
  const kept = async () => (await it.ask<{ briefs: unknown[] }>('handoffs', 'list', '--all')).briefs.length === 1
  await until('the brief is kept', async () => tui.registry()?.status !== 'waiting' && (await kept()))
  expect(await tui.screen(true)).not.toMatch(/Do you want to proceed/)
})
