import { expect, test } from 'vitest'
import { planUnit, UNIT_MARK, type UnitOptions } from './system-unit.js'

const options: UnitOptions = {
  platform: 'linux',
  env: { PATH: '/usr/bin:/bin', HOME: '/home/ada' },
  user: '/home/ada',
  uid: 1000,
  call: ['/usr/bin/node', '/opt/baton/dist/baton.mjs', 'serve'],
}

test('on Linux the service is a systemd unit of the user, started with the session', () => {
  const unit = planUnit(options)
  expect(unit.path).toBe('/home/ada/.config/systemd/user/baton.service')
  expect(unit.text).toContain(
    'ExecStart="/usr/bin/node" "/opt/baton/dist/baton.mjs" "serve"\nEnvironment="PATH=/usr/bin:/bin"\n',
  )
  expect(unit.text).toContain('WantedBy=default.target')
  expect(unit.text).toContain(UNIT_MARK)
  expect(unit.start.map((words) => words.join(' '))).toEqual([
    'systemctl --user daemon-reload',
    'systemctl --user enable --now baton.service',
  ])
  expect(unit.stop).toEqual([['systemctl', '--user', 'disable', '--now', 'baton.service']])
})

test('on macOS the service is a launch agent of the user', () => {
  const unit = planUnit({
    ...options,
    platform: 'darwin',
    user: '/Users/ada',
    uid: 501,
    call: ['/bin/node', '/a & b/baton.mjs', 'serve'],
  })
  expect(unit.path).toBe('/Users/ada/Library/LaunchAgents/dev.baton.server.plist')
  expect(unit.text).toContain('<string>/a &amp; b/baton.mjs</string>')
  expect(unit.text).toContain(UNIT_MARK)
  expect(unit.start).toEqual([['launchctl', 'bootstrap', 'gui/501', unit.path]])
  expect(unit.stop).toEqual([['launchctl', 'bootout', 'gui/501/dev.baton.server']])
  expect(unit.restart).toEqual([...unit.stop, ...unit.start])
})

test('characters with a special meaning for the system are escaped in the service file', () => {
  const { text } = planUnit({
    ...options,
    env: { BATON_HOME: '/b "q" 100% $x \\y' },
    call: ['/a b/node', '$HOME', '50%', 'c"d'],
  })
  expect(text).toContain('ExecStart="/a b/node" "$$HOME" "50%%" "c\\"d"')
  expect(text).toContain('Environment="BATON_HOME=/b \\"q\\" 100%% $x \\\\y"')
})

test('another home has another unit, and another configuration folder is respected', () => {
  const own = planUnit({ ...options, env: { BATON_HOME: '/srv/b', XDG_CONFIG_HOME: '/x' } })
  expect(own.path).toMatch(/^\/x\/systemd\/user\/baton-[0-9a-f]{8}\.service$/)
  expect(own.text).toContain('Environment="BATON_HOME=/srv/b"')
})
