import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { pathKey } from '../../src/install/look.js'
import { startModel } from '../../src/model/model.js'
import { climb } from '../client/climb-script.js'
import { EARLIER_HOME, type Recorded } from '../harness/earlier-home.js'
import { type Home, makeHome } from '../harness/home.js'
import { clientBinary } from '../harness/paths.js'
import { alive, end, withEnvironment } from '../harness/processes.js'
import { runPrint, startPrint } from '../harness/run-print.js'
import { until } from '../harness/wait.js'

/**
 * Records a home with an earlier version of Baton and the real client, for
 * `test/client/earlier-home.test.ts`. BATON_RECORDED names a checkout of that version:
 *
 *   git worktree add --detach /tmp/baton-before 3fc0d27 && (cd /tmp/baton-before && npm ci)
 *   BATON_RECORDED=/tmp/baton-before npx vitest run --config test/record/vitest.config.ts home
 */
const before = process.env.BATON_RECORDED ?? ''

const MODEL = 'claude-opus-4-6'
const BRIEF = `# Handoff brief

## Goal and why
Count the herons at the lake every morning, because the count is due on Friday.

## Next exact step
Count the herons on the north shore.
`
const HERONS = 'Count the herons at the lake. Never touch the file nests.csv.'
/** The user's own settings, which uninstall must restore byte for byte. */
const SETTINGS = `{
    "skipDangerousModePermissionPrompt": true,
    "statusLine": { "type": "command", "command": "echo own-line" },
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }]
    }
}
`
const CONFIG =
  'handoff: {mode: off}\narchive: {at: [pre-compact, session-end]}\nmust_survive: ["The lake is closed on Sundays."]\n'

test.runIf(before)('records a home of the previous version', async () => {
  const baton = path.join(before, 'dist', 'baton.mjs')
  const call = (...args: string[]): string => [process.execPath, baton, ...args].map((word) => `'${word}'`).join(' ')
  const model = await startModel({
    script: {
      ...climb({ steps: 6, grow: 1_000, held: [3] }),
      conversations: [
        {
          when: 'herons',
          steps: [
            { text: 'I decided on binoculars, because the boat is too loud.', bash: 'echo 12 > herons', used: 90_008 },
            { bash: `${call('handoff', 'brief.md', '--reason', 'half way', '--json')} > given.json`, used: 150_008 },
            { bash: 'echo 13 >> herons', used: 170_008 },
            'Never said.',
          ],
          summary: 'The user wants the herons counted.',
          after_compaction: [
            { bash: 'cat herons', used: 30_008 },
            { text: 'Twenty-five herons.', used: 31_008 },
          ],
        },
        {
          name: 'stork',
          when: 'stork',
          steps: [
            { bash: 'echo 1 > storks', used: 140_008 },
            { text: 'Never said.', hold: 'stork' },
          ],
        },
        {
          when: 'cranes',
          steps: [
            { bash: 'echo 7 > cranes', used: 50_008 },
            { text: 'Seven cranes.', used: 52_008 },
          ],
        },
      ],
    },
  })
  onTestFinished(() => model.close())
  const home = makeHome({ model })
  home.env.PATH = `${path.dirname(clientBinary())}:${home.env.PATH}`
  const run = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [baton, ...args], { env: home.env, cwd: home.project })).stdout
  const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'))

  const settings = path.join(home.configDir, 'settings.json')
  writeFileSync(settings, SETTINGS)
  await run('install')
  writeFileSync(path.join(home.batonHome, 'config.yaml'), CONFIG)
  writeFileSync(path.join(home.project, 'baton.yaml'), 'levels: [{name: shore, at: 80k, actions: [user]}]\n')
  const restoreLauncher = scrubBeforeHooks(home)

  writeFileSync(path.join(home.project, 'brief.md'), BRIEF)
  const herons = await runPrint(home, { prompt: HERONS, model: MODEL })
  expect(herons.result).toMatchObject({ is_error: false })
  await run('send', herons.sessionId!, 'The boat is back.')

  const stork = startPrint(home, { prompt: 'Look for the stork.', model: MODEL })
  const storkId = await until('the client waits for its second answer', () => {
    const asked = model.log().filter((entry) => entry.kind === 'main' && entry.conversation === 'stork')
    return asked[1]?.session_id
  })
  await run('send', storkId, 'The stork left in August.', '--mode', 'important')
  await end(stork.pid, 0)
  const briefs = (await json('handoffs', 'list')).briefs
  expect(briefs).toHaveLength(1)

  await json('run', '--prompt', 'Nothing.', '--runtime', 'scripted')
  const job = spawn(
    process.execPath,
    [baton, 'run', '--prompt', 'Do all steps.', '--model', MODEL, '--permission-mode', 'bypassPermissions', '--json'],
    { env: home.env, cwd: home.project, stdio: 'ignore' },
  )
  const steps = path.join(home.project, 'steps')
  await until('two steps are done', () => existsSync(steps) && readFileSync(steps, 'utf8') === '1\n2\n')
  await until('the third is called', () => withEnvironment(`HOME=${home.home}`).some((pid) => isStep(pid, 3)))
  for (const pid of [job.pid!, ...withEnvironment(`HOME=${home.home}`)]) if (alive(pid)) process.kill(pid, 'SIGKILL')
  await until('nothing runs', () => !withEnvironment(`HOME=${home.home}`).some(alive))

  await until('the archives are kept', async () => {
    const { archives } = await json('archive', 'list')
    return archives.length >= 2 && archives.every((one: { status: string }) => one.status === 'kept')
  })
  const sessions = (await json('status', '--all')).sessions as { session_id: string }[]
  const said: Recorded['said'] = {
    status: { sessions },
    show: await Promise.all(sessions.map(({ session_id: id }) => json('show', id))),
    archives: await json('archive', 'list'),
    recall: await json('recall', 'binoculars'),
    briefs: await json('handoffs', 'list'),
    brief: await json('handoffs', 'show', briefs[0].brief_id),
    messages: await json('messages'),
    jobs: await json('jobs', 'list'),
    events: (await run('events', '--json'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  }

  // The lock of a living engine keeps signals in the spool, as after a power failure.
  writeFileSync(path.join(home.batonHome, 'run', 'drain'), `${process.pid} ${Math.ceil(Date.now() / 1000) + 600}\n`)
  const cranes = await runPrint(home, { prompt: 'Count the cranes.', model: MODEL })
  expect(cranes.result).toMatchObject({ is_error: false })
  expect(readdirSync(path.join(home.batonHome, 'spool')).length).toBeGreaterThan(3)
  expect(readdirSync(path.join(home.batonHome, 'outbox')).length).toBeGreaterThan(0)
  restoreLauncher()

  const recorded: Recorded = {
    places: { root: home.dir, package: before, node: process.execPath },
    names: {
      key: pathKey(settings),
      settings: createHash('sha256').update(readFileSync(settings)).digest('hex'),
    },
    original: SETTINGS,
    sessions: { herons: herons.sessionId!, stork: storkId, cranes: cranes.sessionId! },
    said,
  }
  pack(home, recorded)
})

function isStep(pid: number, step: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`echo ${step} >> steps`)
  } catch {
    return false
  }
}

/**
 * Replaces the client's own texts in a transcript by filler of the same length before Baton's
 * launcher runs, so that Baton measures, archives and hashes only redistributable text. Returns a
 * function that restores the launcher.
 */
function scrubBeforeHooks(home: Home): () => void {
  const launcher = path.join(home.batonHome, 'bin', 'hook')
  const real = `${launcher}.real`
  const program = path.join(import.meta.dirname, 'scrub-in-place.mjs')
  renameSync(launcher, real)
  const lines = [
    '#!/bin/bash',
    `case $1 in PreCompact | Stop | SessionEnd) ;; *) exec '${real}' "$@" ;; esac`,
    'payload=$(cat)',
    `transcript=$(sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p' <<<"$payload")`,
    `[ -f "$transcript" ] && '${process.execPath}' '${program}' "$transcript"`,
    `exec '${real}' "$@" <<<"$payload"`,
  ]
  writeFileSync(launcher, `${lines.join('\n')}\n`, { mode: 0o700 })
  return () => {
    renameSync(real, launcher)
    for (const folder of [path.join(home.configDir, 'projects'), path.join(home.batonHome, 'jobs')])
      for (const name of readdirSync(folder, { recursive: true }) as string[])
        if (name.endsWith('.jsonl')) execFileSync(process.execPath, [program, path.join(folder, name)])
  }
}

/**
 * Excludes files that are recreated (compiled code, locks) and files that only the client reads.
 */
function pack(home: Home, recorded: Recorded): void {
  for (const name of ['code', 'run/drain']) rmSync(path.join(home.batonHome, name), { recursive: true, force: true })
  mkdirSync(EARLIER_HOME, { recursive: true })
  const project = ['baton.yaml', 'steps', 'herons', 'storks', 'cranes'].map((name) => `project/${name}`)
  const client = ['settings.json', 'skills', 'projects'].map((name) => `home/.claude/${name}`)
  const files = ['baton', ...client, ...project].filter((name) => existsSync(path.join(home.dir, name)))
  const archive = path.join(EARLIER_HOME, 'home.tar.gz')
  execFileSync('tar', ['--owner=0', '--group=0', '--numeric-owner', '-czf', archive, '-C', home.dir, ...files])
  writeFileSync(path.join(EARLIER_HOME, 'recorded.json'), `${JSON.stringify(recorded, null, 1)}\n`)
}
