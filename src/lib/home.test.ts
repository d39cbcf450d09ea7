import { expect, test } from 'vitest'
import { batonHome } from './home.js'

test('with BATON_HOME every path is in that one folder', () => {
  const home = batonHome({
    BATON_HOME: '/b',
    HOME: '/me',
    XDG_CONFIG_HOME: '/c',
    XDG_DATA_HOME: '/d',
    XDG_STATE_HOME: '/s',
  })
  for (const path of Object.values(home)) expect(path).toMatch(/^\/b(\/|$)/)
  expect(home).toMatchObject({ root: '/b', config: '/b/config.yaml', store: '/b/baton.db', launcher: '/b/bin/hook' })
})

test('without BATON_HOME the paths are in the XDG folders', () => {
  const home = batonHome({ HOME: '/me', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' })
  expect(home).toMatchObject({
    root: '/d/baton',
    config: '/c/baton/config.yaml',
    log: '/s/baton/baton.log',
    store: '/d/baton/baton.db',
  })
})

test.each([
  { HOME: '/me' },
  { HOME: '/me', BATON_HOME: '', XDG_DATA_HOME: '', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' },
])('without any variable, or with empty ones, the paths are in the default XDG folders: %j', (env) => {
  expect(batonHome(env)).toMatchObject({
    root: '/me/.local/share/baton',
    config: '/me/.config/baton/config.yaml',
    log: '/me/.local/state/baton/baton.log',
  })
})

test('all paths of a home are different', () => {
  const paths = Object.values(batonHome({ BATON_HOME: '/b' }))
  expect(new Set(paths).size).toBe(paths.length)
})
