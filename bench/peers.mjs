import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PEERS = [
  { name: 'ccstatusline', arguments: '' },
  { name: 'ccusage', arguments: ' statusline --offline' },
]

/**
 * Installs status line programs from the npm registry for comparison. A failing install is
 * reported and skipped.
 */
export function installPeers(dir, note) {
  const prefix = join(dir, 'peers')
  return PEERS.flatMap(({ name, arguments: words }) => {
    try {
      const { version } = install(prefix, name)
      return [{ name: `${name} ${version}`, command: `'${join(prefix, 'node_modules', '.bin', name)}'${words}` }]
    } catch (error) {
      note(
        `  ${name} could not be installed: ${
          String(error.stderr || error.message)
            .trim()
            .split('\n')[0]
        }`,
      )
      return []
    }
  })
}

function install(prefix, name) {
  npm('install', '--prefix', prefix, '--no-audit', '--no-fund', name)
  const read = (which) => join(prefix, 'node_modules', which, 'package.json')
  const found = JSON.parse(readFileSync(read(name), 'utf8'))
  const native = Object.keys(found.optionalDependencies ?? {}).find((one) =>
    one.endsWith(`${process.platform}-${process.arch}`),
  )
  if (native === undefined || existsSync(read(native))) return found
  // A mirror may lack the native part of the newest version, so the newest complete version is
  // used.
  const version = npm('view', native, 'version').trim()
  npm('install', '--prefix', prefix, '--no-audit', '--no-fund', `${name}@${version}`)
  if (!existsSync(read(native))) throw new Error(`${native} is not in the registry`)
  return { version }
}

function npm(...args) {
  return execFileSync('npm', ['--loglevel=error', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 90_000,
  })
}
