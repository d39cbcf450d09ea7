import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const PEERS = [
  { package: 'ccstatusline', arguments: '' },
  { package: 'ccusage', arguments: ' statusline --offline' },
]

/** Status lines the npm registry offers, installed beside the measurement. Where the registry fails, it says so and goes on. */
export function installPeers(dir, note) {
  const prefix = join(dir, 'peers')
  return PEERS.flatMap((peer) => {
    try {
      execFileSync('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', peer.package], {
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: 90_000,
      })
    } catch (error) {
      note(`${peer.package} could not be installed: ${String(error.stderr ?? error.message).split('\n')[0]}`)
      return []
    }
    const root = join(prefix, 'node_modules', peer.package)
    const { version, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const file = typeof bin === 'string' ? bin : (bin?.[peer.package] ?? Object.values(bin ?? {})[0])
    if (!file || !existsSync(join(root, file))) return []
    return [
      {
        name: `${peer.package} ${version}`,
        command: `'${join(prefix, 'node_modules', '.bin', peer.package)}'${peer.arguments}`,
        folder: dirname(root),
      },
    ]
  })
}
