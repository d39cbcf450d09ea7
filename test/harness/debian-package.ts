import { execFileSync } from 'node:child_process'

/**
 * Installs a Debian package if we are root and have apt-get; otherwise does nothing. The caller
 * checks the result.
 */
export function installDebianPackage(name: string): void {
  if (process.getuid?.() !== 0 || !runs('apt-get', '--version')) return
  // A fresh container image has no package lists, so that the first attempt fails.
  if (runs('apt-get', 'install', '-y', '-q', name)) return
  runs('apt-get', 'update', '-q')
  runs('apt-get', 'install', '-y', '-q', name)
}

/** True if the program exists and exits with 0. */
export function runs(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 300_000 })
    return true
  } catch {
    return false
  }
}
