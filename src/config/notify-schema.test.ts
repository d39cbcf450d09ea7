import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NOTICE_KINDS } from '../contract/records/notice.js'
import { createConfigHome } from '../testing/config-home.js'
import { policyFor } from './policy-for.js'

let fixture: ReturnType<typeof createConfigHome>
beforeEach(() => {
  fixture = createConfigHome()
})
afterEach(() => fixture.remove())

const subject = { agent: 'claude-code', project: null, model: null, seat: 'api' }
const targets = () => {
  const { problems, config } = fixture.load()
  expect(problems).toEqual([])
  return policyFor(config, subject).notify
}
const every = [...NOTICE_KINDS]

test('the forms of notify in earlier versions mean every kind of event', () => {
  fixture.putUser({ notify: ['bell', 'desktop', { command: 'say' }, { webhook: 'https://x.example/y' }] })
  expect(targets()).toEqual([
    { via: 'bell', on: every, command: null, url: null, everyMs: 30_000 },
    { via: 'desktop', on: every, command: null, url: null, everyMs: 30_000 },
    { via: 'command', on: every, command: 'say', url: null, everyMs: 30_000 },
    { via: 'webhook', on: every, command: null, url: 'https://x.example/y', everyMs: 30_000 },
  ])
})

test('an entry of notify has a way, events and a minimum interval', () => {
  fixture.putUser({
    notify: [
      { via: 'ntfy', url: 'https://ntfy.sh/x', on: ['job', 'level'], at_most_every: '10m' },
      { via: 'command', command: 'say', on: null, at_most_every: null },
    ],
  })
  expect(targets()).toEqual([
    { via: 'ntfy', on: ['level', 'job'], command: null, url: 'https://ntfy.sh/x', everyMs: 600_000 },
    { via: 'command', on: every, command: 'say', url: null, everyMs: 30_000 },
  ])
})

describe('a wrong entry is refused by its own key', () => {
  const of = (entry: unknown) => fixture.refused({ notify: [entry] })
  test.each<[unknown, string]>([
    ['bel', 'notify[0]: unknown notify target `bel` | did you mean `bell`?'],
    ['ntfy', 'notify[0]: `ntfy` needs a url | write `{via: ntfy, url: …}`'],
    ['command', 'notify[0]: `command` needs a command | write `{via: command, command: …}`'],
    [1, 'notify[0]: expected a notify target, got 1 | write `bell`'],
    [{}, 'notify[0].via: is missing | every entry needs it'],
    [{ on: ['job'] }, 'notify[0].via: is missing | every entry needs it'],
    [{ via: 'desktp' }, 'notify[0].via: unknown notify target `desktp` | did you mean `desktop`?'],
    [
      { via: 'bell', url: 'https://x' },
      'notify[0].url: would have no effect: `via: bell` uses no url | remove the key',
    ],
    [{ via: 'bell', command: 'x' }, 'notify[0].command: would have no effect: `via: bell` uses no command'],
    [{ via: 'ntfy', url: 'https://x', command: 'x' }, 'notify[0].command: would have no effect: `via: ntfy`'],
    [{ via: 'command', command: 'x', url: 'https://x' }, 'notify[0].url: would have no effect: `via: command`'],
    [{ via: 'command' }, 'notify[0].command: is missing | `via: command` needs it'],
    [{ via: 'webhook' }, 'notify[0].url: is missing | `via: webhook` needs it'],
    [{ via: 'webhook', url: 'ftp://x' }, 'notify[0].url: `ftp://x` is not a URL'],
    [{ via: 'bell', on: [] }, 'notify[0].on: is empty, so nothing would be sent'],
    [{ via: 'bell', on: ['levl'] }, 'notify[0].on[0]: unknown event `levl` | did you mean `level`?'],
    [{ via: 'bell', on: ['job', 'job'] }, 'notify[0].on[1]: `job` is listed twice'],
    [{ via: 'bell', at_most_every: 30 }, 'notify[0].at_most_every: 30 has no unit'],
    [{ via: 'bell', at_most_every: 'often' }, 'notify[0].at_most_every: `often` is not a duration'],
    [{ via: 'bell', every: '1m' }, 'notify[0].every: unknown key `every`'],
    [{ command: 'x', on: ['job'] }, 'notify[0].on: unknown key `on`'],
    [{ webhook: 'https://x', on: ['job'] }, 'notify[0].on: unknown key `on`'],
  ])('the wrong notify entry %j is refused at its own key', (entry, problem) => {
    const problems = of(entry)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('two equal entries of notify are refused', () => {
    expect(fixture.refused({ notify: ['bell', { via: 'bell', at_most_every: '30s' }] })).toEqual([
      'notify[1]: duplicates entry 1 of the list | remove one of the two',
    ])
  })
})

test('a nearer source replaces the list of notify, and an override replaces it for its sessions', () => {
  fixture.putUser({ notify: ['bell'], overrides: [{ when: { seat: 'api' }, notify: ['desktop'] }] })
  expect(targets().map(({ via }) => via)).toEqual(['desktop'])
  expect(policyFor(fixture.load().config, { ...subject, seat: 'other' }).notify.map(({ via }) => via)).toEqual(['bell'])
  fixture.putProject({ notify: [{ command: 'mine' }] })
  expect(targets().map(({ via }) => via)).toEqual(['command'])
  fixture.putProject({ notify: [] })
  expect(targets()).toEqual([])
})

test('an untrusted project file can neither add nor remove a way to notify', () => {
  fixture.putUser({ notify: ['bell'] })
  fixture.putUntrusted({
    notify: [{ command: 'touch /tmp/pwned' }],
    overrides: [{ when: { agent: '*' }, notify: [{ via: 'webhook', url: 'https://evil.example' }] }],
  })
  expect(targets().map(({ via }) => via)).toEqual(['bell'])
  expect(
    fixture
      .load()
      .project!.ignored.map(({ key }) => key)
      .sort(),
  ).toEqual(['notify', 'overrides[0].notify'])
  fixture.putUntrusted({ notify: [] })
  expect(targets().map(({ via }) => via)).toEqual(['bell'])
})
