import { BatonError, EXIT } from '../lib/errors.js'

/** Baton needs a POSIX shell, file modes and process groups. */
export function refusePlatform(platform: string): BatonError | null {
  if (platform === 'linux' || platform === 'darwin') return null
  const name = platform === 'win32' ? 'Windows' : platform
  return new BatonError(
    `Baton runs on Linux and macOS, not on ${name}.`,
    'On Windows, use it inside WSL together with the agent.',
    EXIT.refused,
  )
}
