import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { jobSpecWithHooks, jobWithHooks, shellHook } from '../../testing/job-hooks.js'
import { hookContextText, lastHookDecision } from '../job-hooks.js'
import { sessionStartPayload, thresholdPayload } from './payloads.js'
import { runHooks } from './run-hooks.js'

const hasJq = (() => {
  try {
    execFileSync('jq', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/**
 * Typical user scripts: the first saves a note in the
 * worktree at the threshold, the second loads it.
 */
const SAVE = `PAYLOAD=$(cat)
WORKTREE=$(echo "$PAYLOAD" | jq -r '.session.worktree_path // .session.working_directory')
AGENT=$(echo "$PAYLOAD" | jq -r '.session.agent_name')
mkdir -p "$WORKTREE/specs/handoffs"
echo "$PAYLOAD" | jq '{agent: .session.agent_name, branch: .session.branch_name, usage: .context.usage_percent}' \\
  > "$WORKTREE/specs/handoffs/$AGENT-handoff.json"
echo "Saved"`
const LOAD = `PAYLOAD=$(cat)
IS_CONTINUATION=$(echo "$PAYLOAD" | jq -r '.session.is_continuation')
if [ "$IS_CONTINUATION" != "true" ]; then exit 0; fi
FOLDER="$(echo "$PAYLOAD" | jq -r '.session.working_directory')/specs/handoffs"
HANDOFF="$FOLDER/$(echo "$PAYLOAD" | jq -r '.session.agent_name')-handoff.json"
if [ -f "$HANDOFF" ]; then
  echo "# Continuation"
  cat "$HANDOFF"
  rm "$HANDOFF"
fi`

test.skipIf(!hasJq)('hook scripts with jq save a note at the threshold and load it at the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-scripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'my tree')
  mkdirSync(path)
  const worktree = { path, branch: 'agent/coder/lin-42', base: 'main', repository: folder }
  const job = jobWithHooks({ spec: jobSpecWithHooks({ folder }), workspace: { folder: path, worktree } })
  const ground = { cwd: path, env: { PATH: process.env.PATH }, jobId: 'j1' }
  const first = sessionStartPayload(job, 's1', null, 'P')
  expect(hookContextText(await runHooks([shellHook(LOAD)], 'session_start', first, ground))).toBe('')
  const full = thresholdPayload(job, 's1', { used: 150_000, window: 200_000, point: 167_000, model: 'm' })
  expect(lastHookDecision(await runHooks([shellHook(SAVE)], 'context_threshold', full, ground))).toMatchObject({
    decision: 'abort',
  })
  const note = join(path, 'specs', 'handoffs', 'coder-handoff.json')
  expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({ agent: 'coder', branch: 'agent/coder/lin-42', usage: 0.75 })
  const next = sessionStartPayload({ ...job, handoffs: 1 }, 's2', 's1', 'P')
  const context = hookContextText(await runHooks([shellHook(LOAD)], 'session_start', next, ground))
  expect(context).toMatch(/^# Continuation\n\{[\s\S]*"usage": 0\.75/)
  expect(existsSync(note)).toBe(false)
})
