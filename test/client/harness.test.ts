import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Model, startModel } from '../../src/model/model.js'
import type { ScriptInput } from '../../src/model/script.js'
import { makeHome } from '../harness/home.js'
import { alive, withEnvironment } from '../harness/processes.js'
import { runPrint, startPrint } from '../harness/run-print.js'
import { runSdk } from '../harness/run-sdk.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

async function model(script: ScriptInput): Promise<Model> {
  const started = await startModel({ script })
  onTestFinished(() => started.close())
  return started
}

test('a test home has a git project and settings, and nothing of the real environment', async () => {
  process.env.BATON_SECRET_OF_THE_TEST = '1'
  onTestFinished(() => {
    delete process.env.BATON_SECRET_OF_THE_TEST
  })
  const home = makeHome({ model: await model({ steps: [{ bash: 'env; pwd' }, 'Done.'] }) })
  home.settings({ env: { FROM_SETTINGS: 'yes' } })
  expect(execFileSync('git', ['-C', home.project, 'log', '--format=%s'], { encoding: 'utf8' })).toBe('Begin\n')
  const run = await runPrint(home, { prompt: 'go', model: 'claude-sonnet-4-5' })
  const shown = JSON.stringify(run.messages.filter((m) => m.type === 'user'))
  expect(shown).toContain('FROM_SETTINGS=yes')
  expect(shown).toContain(`HOME=${home.home}`)
  expect(shown).not.toContain('BATON_SECRET_OF_THE_TEST')
  expect(home.transcript(run.sessionId!)).toContain('Done.')
})

test('disposing of a test home ends its processes and removes its folder', async () => {
  const home = makeHome()
  const orphan = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300'], {
    env: home.env,
    detached: true,
    stdio: 'ignore',
  })
  await until('both run', () => withEnvironment(`HOME=${home.home}`).length >= 2)
  await home.dispose()
  expect(alive(orphan.pid!)).toBe(false)
  expect(withEnvironment(`HOME=${home.home}`)).toEqual([])
  expect(existsSync(home.dir)).toBe(false)
})

test('the home of a failed test is not removed, and its place is printed', async () => {
  const home = makeHome()
  // Printed here, the line would look like that of a test that failed.
  const print = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => print.mockRestore())
  await home.dispose(true)
  expect(print.mock.calls).toEqual([[`kept ${home.dir}\n`]])
  expect(existsSync(home.project)).toBe(true)
  execFileSync('rm', ['-rf', home.dir])
})

test('a run that exceeds its time limit is ended and reports it', async () => {
  const home = makeHome({ model: await model({ steps: [{ text: 'Never.', fail: 'hang' }] }) })
  const run = await runPrint(home, { prompt: 'go', model: 'claude-sonnet-4-5', timeoutMs: 1500 })
  expect(run.timedOut).toBe(true)
  expect(withEnvironment(`HOME=${home.home}`)).toEqual([])
})

test('a print run accepts prompts over its open stdin', async () => {
  const home = makeHome({ model: await model({ steps: [{ text: 'Done.', used: 44_008 }] }) })
  const run = startPrint(home, { model: 'claude-opus-4-6', stdin: 'open' })
  run.send({ type: 'user', message: { role: 'user', content: 'go' } })
  await until('the result', () => run.messages.some((m) => m.type === 'result'))
  run.send({ type: 'control_request', request_id: 'r1', request: { subtype: 'get_context_usage', detail: 'summary' } })
  const answer = await until('the answer', () => run.messages.find((m) => m.type === 'control_response'))
  run.endInput()
  expect(JSON.stringify(answer)).toContain('"autoCompactThreshold":167000')
  expect((await run.done).code).toBe(0)
})

test('the Agent SDK runs in the test home with the home’s settings', async () => {
  const home = makeHome({
    model: await model({ steps: [{ bash: 'echo "$HOME" > where.txt', used: 30_008 }, 'Done.'] }),
  })
  const run = await runSdk(home, { prompt: 'go', options: { model: 'claude-sonnet-4-5' } })
  expect(run.error).toBeNull()
  expect(run.result?.result).toBe('Done.')
  expect(readFileSync(path.join(home.project, 'where.txt'), 'utf8')).toBe(`${home.home}\n`)
  expect(home.transcript(run.sessionId!)).toContain('Done.')
})

test('the client in the test terminal reports an open dialog as waiting, accepts keys and exits cleanly', async () => {
  const scripted = await model({ steps: [{ bash: 'touch asked.txt' }, 'Done.'] })
  const home = makeHome({ model: scripted })
  const tui = await startTui(home, { model: 'claude-sonnet-4-5', bypass: false })
  await tui.submit('go')
  await tui.waitStatus('waiting')
  expect(existsSync(path.join(home.project, 'asked.txt'))).toBe(false)
  await tui.waitFor(/1\. Yes/)
  // The client ignores keys for a moment after it opens a dialog.
  await until(
    'the dialog closes',
    async () => {
      await tui.key('Enter')
      return tui.registry()?.status !== 'waiting'
    },
    { every: 300 },
  )
  await tui.waitIdle()
  expect(existsSync(path.join(home.project, 'asked.txt'))).toBe(true)
  expect(await tui.screen()).toContain('Done.')
  expect(scripted.log()[0]!.session_id).toBe(tui.sessionId())
  // The client must not fetch its plugin marketplace, because tests contact only the model.
  const state = () =>
    JSON.parse(readFileSync(path.join(home.configDir, '.claude.json'), 'utf8')) as Record<string, unknown>
  await until(
    'it has left its plugins alone',
    () => state().officialMarketplaceAutoInstallFailReason === 'policy_blocked',
  )
  await tui.exit()
  expect(alive(tui.pid)).toBe(false)
})

test('the test terminal submits a long prompt of many lines as one prompt', async () => {
  const scripted = await model({ steps: ['Read.'] })
  const home = makeHome({ model: scripted, explicitConfigDir: false })
  writeFileSync(path.join(home.project, 'x'), '')
  const tui = await startTui(home, { model: 'claude-opus-5-5' })
  const text = Array.from({ length: 200 }, (_, i) => `line ${i} of the prompt`).join('\n')
  await tui.submit(text)
  await tui.waitIdle()
  expect(scripted.log()).toHaveLength(1)
  expect(scripted.log()[0]!.body).toContain(JSON.stringify(text).slice(1, -1))
})
