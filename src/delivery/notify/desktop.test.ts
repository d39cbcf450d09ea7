import { expect, test } from 'vitest'
import { desktopCommand } from './send-notice.js'

test('a text that begins with a dash is an argument, never an option', () => {
  expect(desktopCommand('--help', 'linux')).toEqual(['notify-send', '--app-name=Baton', '--', 'Baton', '--help'])
  const mac = desktopCommand('-e "do shell script"', 'darwin')
  expect([mac[0], mac.slice(-2)]).toEqual(['osascript', ['--', '-e "do shell script"']])
  expect(mac.filter((part) => part.includes('do shell script'))).toHaveLength(1)
})

test('markup characters in a notice are shown literally', () => {
  expect(desktopCommand('a <b>&c', 'linux').at(-1)).toBe('a &lt;b&gt;&amp;c')
})
