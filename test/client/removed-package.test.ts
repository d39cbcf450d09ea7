import { execFileSync, spawn } from 'node:child_process'
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { pretend } from '../harness/hooks.js'
import { BATON, REPOSITORY } from '../harness/paths.js'
import { runPrint } from '../harness/run-print.js'
import { type Stage, stage } from '../harness/stage.js'

const client = (it: Stage): number => spawn('sleep', ['300'], { env: it.home.env, stdio: 'ignore' }).pid!

test('hooks and status line print and store nothing after the package was removed without uninstall', async () => {
  const it = await stage({ steps: [{ bash: 'echo a', used: 150_008 }, { bash: 'echo b', used: 151_008 }, 'Done.'] })
  const copy = path.join(it.home.dir, 'package')
  cpSync(path.dirname(BATON), path.join(copy, 'dist'), { recursive: true })
  symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(copy, 'node_modules'))
  execFileSync(process.execPath, [path.join(copy, 'dist', 'baton.mjs'), 'install'], {
    env: it.home.env,
    cwd: it.home.project,
  })
  const session = pretend(it.home, client(it))
  expect((await session.statusLine(30_008)).stdout).toContain('30k')
  rmSync(copy, { recursive: true })

  const large = { tool_calls: [{ tool_name: 'Bash', tool_use_id: 't1', tool_response: 'x'.repeat(20_000) }] }
  const runs = [
    await session.statusLine(31_008),
    await session.hook('PostToolBatch', large),
    await session.batch(150_008),
  ]
  for (const run of runs) expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6', args: ['--include-hook-events'] })
  expect([run.code, run.stderr]).toEqual([0, ''])
  const answers = run.messages.filter((m) => m.subtype === 'hook_response')
  expect(answers.filter((m) => m.exit_code !== 0 || m.stdout !== '' || m.stderr !== '')).toEqual([])
  expect(it.strays().filter((name) => !name.startsWith('outbox'))).toEqual([])
  expect(await it.sessions()).toHaveLength(1)
})
