import { expect, test } from 'vitest'
import { browserCommands } from './open-page.js'

test('the browser is chosen by the user, else by the system, and none is used without a display', () => {
  const of = (env: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
    browserCommands('file:///x', env, platform)
  expect(of({ BROWSER: 'firefox -P %s -w:lynx' })).toEqual([
    ['firefox', '-P', 'file:///x', '-w'],
    ['lynx', 'file:///x'],
  ])
  expect(of({ DISPLAY: ':0' })).toEqual([['xdg-open', 'file:///x']])
  expect(of({ WAYLAND_DISPLAY: 'w' })).toEqual([['xdg-open', 'file:///x']])
  expect(of({})).toEqual([])
  expect(of({}, 'darwin')).toEqual([['open', 'file:///x']])
})
