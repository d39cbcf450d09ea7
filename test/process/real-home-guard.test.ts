import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { realHomeGuard } from '../harness/real-home-guard.js'

function fakeHome(): { put(file: string, text: string): string; guard(): () => void } {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'guarded-home-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return {
    put: (file, text) => {
      const full = path.join(dir, file)
      mkdirSync(path.dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    guard: () => realHomeGuard(dir, {}),
  }
}

test('the guard accepts files that the developer’s own client writes meanwhile', () => {
  const home = fakeHome()
  home.put('.claude/settings.json', '{}')
  const check = home.guard()
  home.put('.claude/projects/-home-me-work/a.jsonl', 'line')
  home.put('.claude/sessions/12.json', '{"pid":12,"cwd":"/home/me/work"}')
  home.put('.claude.json', '{"numStartups":3}')
  expect(check).not.toThrow()
})

test.each([
  ['.claude/settings.local.json', '{}'],
  ['.claude/skills/baton/SKILL.md', 'x'],
  ['.claude/commands/handoff.md', 'x'],
  ['.config/baton/config.yaml', 'enabled: true'],
  ['.local/state/baton/store.db', ''],
  ['.claude/sessions/13.json', '{"pid":13,"cwd":"/tmp/baton-test-abc/project"}'],
  ['.claude/projects/-tmp-baton-test-abc-project/s.jsonl', 'line'],
  ['.claude.json', '{"projects":{"/tmp/baton-test-abc/project":{}}}'],
])('the guard names a new file %s', (file, text) => {
  const home = fakeHome()
  const check = home.guard()
  home.put(file, text)
  expect(check).toThrow(path.dirname(file))
})

test('the guard names a changed and a removed file', () => {
  const home = fakeHome()
  const settings = home.put('.claude/settings.json', '{}')
  const command = home.put('.claude/commands/mine.md', 'x')
  const check = home.guard()
  utimesSync(settings, 1, 1)
  rmSync(command)
  expect(check).toThrow(/changed: .*settings\.json[\s\S]*gone: .*mine\.md/)
})
