import { expect, test } from 'vitest'
import { batonHome } from './home.js'

test('with BATON_HOME everything lies in that one folder', () => {
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

test('without it, in the XDG places, each where it belongs', () => {
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
])('and where nothing is said, or said emptily, in the usual ones: %j', (env) => {
  expect(batonHome(env)).toMatchObject({
    root: '/me/.local/share/baton',
    config: '/me/.config/baton/config.yaml',
    log: '/me/.local/state/baton/baton.log',
  })
})

test('no two things share a path', () => {
  const paths = Object.values(batonHome({ BATON_HOME: '/b' }))
  expect(new Set(paths).size).toBe(paths.length)
})
