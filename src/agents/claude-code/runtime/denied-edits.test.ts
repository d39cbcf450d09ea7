import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { JobSpec } from '../../../contract/records/job.js'
import { aJob } from '../../../testing/sample-job.js'
import { deniedEdits } from './runtimes.js'

function place(settings: object = {}): (change: Partial<JobSpec>) => string | null {
  const folder = mkdtempSync(join(tmpdir(), 'baton-denied-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '.claude'))
  writeFileSync(join(folder, '.claude', 'settings.json'), JSON.stringify(settings))
  const env = { HOME: folder }
  return (change) => deniedEdits({ ...aJob().spec, runtime: 'cli', folder: join(folder, 'project'), ...change }, env)
}

test.each([null, 'default', 'manual', 'dontAsk', 'plan'])(
  'permission mode %s denies edits, and the warning names the options that allow them',
  (permissionMode) => {
    const warning = place()({ permissionMode })
    expect(warning).toMatch(/^Edits will be denied\b/)
    expect(warning).toContain(permissionMode ?? 'default')
    expect(warning).toMatch(/--permission-mode acceptEdits.*--permission-mode bypassPermissions/)
  },
)

test.each(['acceptEdits', 'auto', 'bypassPermissions'])('permission mode %s does not deny edits', (permissionMode) => {
  expect(place()({ permissionMode })).toBeNull()
})

test('edits that a rule of the job or of the settings allows are not denied, except in permission mode plan', () => {
  expect(place()({ allowedTools: ['Read', 'Edit'] })).toBeNull()
  expect(place({ permissions: { allow: ['Write(src/**)'] } })({})).toBeNull()
  expect(place()({ allowedTools: ['Read', 'Bash(npm test)'] })).not.toBeNull()
  expect(place()({ permissionMode: 'plan', allowedTools: ['Edit'] })).not.toBeNull()
})

test('without a permission mode of its own a job has that of the settings', () => {
  const settings = { permissions: { defaultMode: 'acceptEdits' } }
  expect(place(settings)({})).toBeNull()
  expect(place(settings)({ permissionMode: 'plan' })).toContain('plan')
})
