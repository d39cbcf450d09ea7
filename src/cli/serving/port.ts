import { BatonError, EXIT } from '../../lib/errors.js'

export const PORT = 8420

/** The port from the command line, else from the environment, else the usual one. 0: any free one. */
export function portFrom(flag: string | null, env: Record<string, string | undefined>, usual: number): number {
  if (flag !== null) return parse(flag, '--port')
  return env.BATON_PORT ? parse(env.BATON_PORT, 'BATON_PORT') : usual
}

export function parse(written: string, name: string): number {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN
  if (port <= 65_535) return port
  throw new BatonError(`${name} cannot be "${written}".`, 'Give a port from 1 to 65535, or 0 for any free one.', EXIT.usage)
}
