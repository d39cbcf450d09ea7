import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** The mark of a file that is Baton's own: no other is ever replaced or removed. */
export const MARK = 'Written by baton serve install; baton serve remove takes it away.'

type Env = Record<string, string | undefined>

export interface UnitWish {
  platform: NodeJS.Platform
  env: Env
  /** The person's home folder, and their number. */
  user: string
  uid: number
  /** The program and what it is called with. */
  call: readonly string[]
}

export interface Unit {
  name: string
  path: string
  text: string
  /** What the system is told when it is there, changed, or to be gone. */
  start: readonly (readonly [string, ...string[]])[]
  restart: readonly (readonly [string, ...string[]])[]
  stop: readonly (readonly [string, ...string[]])[]
  /** After the file is gone. */
  forget: readonly (readonly [string, ...string[]])[]
}

/** What a server needs of the shell it was installed from: where things are, and what its jobs find on their PATH. */
const KEPT = ['BATON_HOME', 'BATON_PORT', 'BATON_LOG', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'CLAUDE_CONFIG_DIR']

/** How the system starts the server when the person logs in. A home of its own has a unit of its own. */
export function planUnit(wish: UnitWish): Unit {
  return wish.platform === 'darwin' ? agentPlan(wish) : systemdPlan(wish)
}

function systemdPlan({ env, user, call }: UnitWish): Unit {
  const name = `baton${suffix(env)}.service`
  const ctl = (...args: string[]) => ['systemctl', '--user', ...args] as [string, ...string[]]
  const text = `# ${MARK}
[Unit]
Description=Baton: the server for hooks and the page

[Service]
ExecStart=${call.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
${kept(env)
  .map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`)
  .join('\n')}
Restart=on-failure
RestartSec=2
# A wrong configuration, or another server for the same home: trying again would not help.
RestartPreventExitStatus=2 4

[Install]
WantedBy=default.target
`
  return {
    ...{ name, path: join(env.XDG_CONFIG_HOME || join(user, '.config'), 'systemd', 'user', name), text },
    start: [ctl('daemon-reload'), ctl('enable', '--now', name)],
    restart: [ctl('daemon-reload'), ctl('enable', name), ctl('restart', name)],
    stop: [ctl('disable', '--now', name)],
    forget: [ctl('daemon-reload')],
  }
}

function agentPlan({ env, user, uid, call }: UnitWish): Unit {
  const name = `dev.baton.server${suffix(env)}`
  const path = join(user, 'Library', 'LaunchAgents', `${name}.plist`)
  const list = (items: readonly string[]) => items.map((item) => `    <string>${escaped(item)}</string>`).join('\n')
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${name}</string>
  <key>ProgramArguments</key>
  <array>
${list(call)}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${kept(env)
  .map(([key, value]) => `    <key>${key}</key><string>${escaped(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
</dict>
</plist>
`
  const stop = [['launchctl', 'bootout', `gui/${uid}/${name}`]] as [string, ...string[]][]
  const start = [['launchctl', 'bootstrap', `gui/${uid}`, path]] as [string, ...string[]][]
  return { name, path, text, start, restart: [...stop, ...start], stop, forget: [] }
}

const kept = (env: Env): [string, string][] =>
  [...KEPT, 'PATH'].flatMap((key) => (env[key] ? [[key, env[key]] as [string, string]] : []))

const suffix = ({ BATON_HOME: own }: Env): string => (own ? `-${createHash('sha256').update(own).digest('hex').slice(0, 8)}` : '')

/** As systemd reads words. A dollar begins a variable only in a command. */
const quoted = (word: string): string =>
  `"${word.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/%/g, '%%').replace(/\n/g, '\\n')}"`

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
