import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Returns the token of the server that runs on a home, as hooks find it. */
export function serverToken(batonHome: string): string {
  return readFileSync(path.join(batonHome, 'run', 'server'), 'utf8')
    .trim()
    .split(' ')[1]!
}

/** Headers of a program that knows the token. */
export const authorized = (batonHome: string): { Authorization: string } => ({
  Authorization: `Bearer ${serverToken(batonHome)}`,
})
