import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Platforms on which `npm ci` followed by a build has to work. */
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

interface LockedPackage {
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

interface Lock {
  packages: Record<string, LockedPackage>
}

const lock: Lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))

test('the lock file contains every optional dependency that a locked package names', () => {
  expect(missingOptionalDependencies(lock)).toEqual([])
})

test('each package with native builds is locked for linux and darwin on x64 and arm64', () => {
  const owners = nativeOwners(lock)
  expect(owners).toContain('node_modules/esbuild')
  expect(owners.flatMap((owner) => missingPlatforms(lock, owner))).toEqual([])
})

test('a lock file without one platform package is reported with the package and the platform', () => {
  const { 'node_modules/@esbuild/darwin-arm64': _, ...packages } = lock.packages
  expect(missingOptionalDependencies({ packages })).toEqual(['node_modules/esbuild needs @esbuild/darwin-arm64'])
  expect(missingPlatforms({ packages }, 'node_modules/esbuild')).toEqual(['node_modules/esbuild on darwin-arm64'])
})

function missingOptionalDependencies({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([owner, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => locate(packages, owner, name) === null)
      .map((name) => `${owner} needs ${name}`),
  )
}

/** Returns the packages with optional dependencies for one operating system and processor. */
function nativeOwners({ packages }: Lock): string[] {
  return Object.keys(packages).filter((owner) =>
    optionalPackages(packages, owner).some(({ os, cpu }) => os !== undefined && cpu !== undefined),
  )
}

function missingPlatforms({ packages }: Lock, owner: string): string[] {
  const builds = optionalPackages(packages, owner)
  return PLATFORMS.filter((platform) => {
    const [os = '', cpu = ''] = platform.split('-')
    return !builds.some((build) => build.os?.includes(os) && build.cpu?.includes(cpu) && isForGlibc(build))
  }).map((platform) => `${owner} on ${platform}`)
}

/** Returns false for builds that only run with musl. */
function isForGlibc({ libc }: LockedPackage): boolean {
  return libc === undefined || libc.includes('glibc')
}

function optionalPackages(packages: Lock['packages'], owner: string): LockedPackage[] {
  return Object.keys(packages[owner]?.optionalDependencies ?? {})
    .map((name) => locate(packages, owner, name))
    .filter((found) => found !== null)
}

/**
 * Finds a dependency as Node does: nested in its owner first, then in each folder above.
 * Null when the lock file lacks it.
 */
function locate(packages: Lock['packages'], owner: string, name: string): LockedPackage | null {
  for (let folder = owner; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`]
    if (found) return found
    if (folder === '') return null
  }
}
