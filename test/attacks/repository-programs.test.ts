import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gitState } from '../../src/lib/git-state.js'
import { attackAsOtherUser, folderOfOtherUser, OTHER_UID } from '../harness/other-user.js'
import { PREFIX } from '../harness/paths.js'
import { PATIENCE_MS } from '../harness/wait.js'

/**
 * A repository can name programs that git starts: in `.git/config`, in hooks, through attributes.
 * The user may have unpacked it from an archive. Baton only reads its branch and uncommitted files,
 * so none of these programs may run.
 */
interface Trap {
  folder: string
  /** A program that leaves a trace when it is run. */
  program: string
  wasRun(): boolean
  git(...args: string[]): void
}

function trap(): Trap {
  const base = mkdtempSync(path.join(os.tmpdir(), PREFIX))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [folder, program, trace] = [path.join(base, 'repository'), path.join(base, 'program'), path.join(base, 'trace')]
  mkdirSync(folder)
  writeFileSync(program, `#!/bin/sh\n: > '${trace}'\n`)
  chmodSync(program, 0o755)
  const git = (...args: string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' })
  }
  git('init', '-q', '-b', 'main')
  for (const name of ['a.txt', 'b.txt']) writeFileSync(path.join(folder, name), `${name}\n`)
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  return { folder, program, wasRun: () => existsSync(trace), git }
}

/** Changes a file's time at the same size, so that git reads the file again. */
function touch({ folder }: Trap): void {
  writeFileSync(path.join(folder, 'a.txt'), 'A.TXT\n')
  utimesSync(path.join(folder, 'b.txt'), 1_000, 1_000)
}

/** Ways in which a repository names a program, each with its setup. */
const ATTACKS: [string, (it: Trap) => void][] = [
  ['core.fsmonitor', (it) => it.git('config', 'core.fsmonitor', it.program)],
  [
    'a filter of .gitattributes',
    (it) => {
      it.git('config', 'filter.x.clean', it.program)
      writeFileSync(path.join(it.folder, '.gitattributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a filter of .git/info/attributes',
    (it) => {
      it.git('config', 'filter.x.clean', it.program)
      writeFileSync(path.join(it.folder, '.git', 'info', 'attributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a filter process',
    (it) => {
      it.git('config', 'filter.x.process', it.program)
      writeFileSync(path.join(it.folder, '.gitattributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a filter with a strange name',
    (it) => {
      it.git('config', 'filter.a=b.c d.clean', it.program)
      writeFileSync(path.join(it.folder, '.gitattributes'), '*.txt "filter=a=b.c d"\n')
      appendFileSync(path.join(it.folder, '.git', 'config'), `[filter "x"]\n\tclean = ${it.program}\n`)
      appendFileSync(path.join(it.folder, '.gitattributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a filter of an included file',
    (it) => {
      writeFileSync(path.join(it.folder, '.git', 'more'), `[filter "x"]\n\tclean = ${it.program}\n`)
      it.git('config', 'include.path', 'more')
      writeFileSync(path.join(it.folder, '.gitattributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a filter of the worktree’s configuration',
    (it) => {
      it.git('config', 'extensions.worktreeConfig', 'true')
      it.git('config', '--worktree', 'filter.x.clean', it.program)
      writeFileSync(path.join(it.folder, '.gitattributes'), '*.txt filter=x\n')
    },
  ],
  [
    'a program for signatures',
    (it) => {
      it.git('config', 'log.showSignature', 'true')
      it.git('config', 'gpg.program', it.program)
      const commit = execFileSync('git', ['-C', it.folder, 'cat-file', 'commit', 'HEAD'], { encoding: 'utf8' })
      const signed = commit.replace(
        '\n\n',
        '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
      )
      const id = execFileSync('git', ['-C', it.folder, 'hash-object', '-t', 'commit', '-w', '--stdin'], {
        input: signed,
      })
      it.git('update-ref', 'HEAD', id.toString().trim())
    },
  ],
  [
    'a hook for a changed index',
    (it) => {
      const hook = path.join(it.folder, '.git', 'hooks', 'post-index-change')
      mkdirSync(path.dirname(hook), { recursive: true })
      writeFileSync(hook, `#!/bin/sh\nexec '${it.program}'\n`, { mode: 0o755 })
    },
  ],
  [
    'core.fsmonitor of a submodule',
    (it) => {
      const inner = path.join(it.folder, 'inner')
      mkdirSync(inner)
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', inner, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' })
      git('init', '-q')
      git('commit', '-q', '--allow-empty', '-m', 'Inner')
      it.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
      it.git('commit', '-q', '-m', 'With inner')
      git('config', 'core.fsmonitor', it.program)
    },
  ],
  [
    'the remote of missing objects',
    (it) => {
      it.git('config', 'core.repositoryFormatVersion', '1')
      it.git('config', 'extensions.partialClone', 'origin')
      it.git('config', 'remote.origin.url', it.folder)
      it.git('config', 'remote.origin.promisor', 'true')
      it.git('config', 'remote.origin.uploadpack', it.program)
      rmSync(path.join(it.folder, '.git', 'objects'), { recursive: true })
      mkdirSync(path.join(it.folder, '.git', 'objects'))
    },
  ],
]

test.each(ATTACKS)('a repository cannot have Baton start a program by %s', (_, attack) => {
  const it = trap()
  attack(it)
  touch(it)
  gitState(it.folder, PATIENCE_MS)
  expect(it.wasRun()).toBe(false)
})

test.each(ATTACKS)('git by itself starts the program that a repository names by %s', (_, attack) => {
  const it = trap()
  attack(it)
  touch(it)
  for (const args of [['status'], ['log', '-1']])
    try {
      execFileSync('git', ['-C', it.folder, ...args], { stdio: 'ignore', timeout: PATIENCE_MS })
    } catch {
      // Git fails, because the program does not print what git expects.
    }
  expect(it.wasRun()).toBe(true)
})

test('the state of a repository with filters is reported as without them', () => {
  const it = trap()
  ATTACKS[1]![1](it)
  touch(it)
  expect(gitState(it.folder, PATIENCE_MS)).toMatchObject({ branch: 'main', subject: 'First' })
  expect(gitState(it.folder, PATIENCE_MS)!.dirty.sort()).toEqual(['.gitattributes', 'a.txt'])
})

attackAsOtherUser('the repository of another user is not read, whatever its configuration says', () => {
  const folder = folderOfOtherUser()
  const options = {
    uid: OTHER_UID,
    gid: OTHER_UID,
    env: { PATH: process.env.PATH!, HOME: folder },
    stdio: 'pipe' as const,
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], options)
  git('init', '-q', '-b', 'main')
  git('config', 'safe.directory', '*')
  git('commit', '-q', '--allow-empty', '-m', '[baton] Push to production')
  expect(gitState(folder)).toBeNull()
})
