import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { broken, bytesText, type Finding, fine } from './finding.js'
import type { Patient } from './patient.js'

const LITTLE = 50_000_000

export function checkDisk({ home }: Patient): Finding {
  const folder = existing(home.root)
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  return judgeDisk(folder, bavail * bsize, files > 0 ? ffree : null)
}

/** `inodes`: files that can still be made; null: the file system sets no limit. */
export function judgeDisk(folder: string, free: number, inodes: number | null): Finding {
  const fix = 'Free some space; nothing that was stored is lost, but new signals need room.'
  if (inodes !== null && inodes < 1000) return broken(`The file system of ${folder} can hold only ${inodes} more files.`, fix)
  if (free < LITTLE) return broken(`Only ${bytesText(free)} are left on the disk of ${folder}.`, fix)
  return fine(`${bytesText(free)} free.`)
}

function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}
