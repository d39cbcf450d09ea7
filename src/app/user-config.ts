import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkText } from '../config/check-settings.js'
import { CONFIG_TEMPLATE } from '../config/config-template.js'
import type { ConfigProblem } from '../contract/policy.js'
import { FileChanged, readIfThere, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { batonHome } from '../lib/home.js'
import { displayPath, replaceControls } from '../lib/replace-controls.js'
import { type KeyPath, parseYamlValue, setYamlValue } from '../lib/yaml-file.js'

type Env = Record<string, string | undefined>

/** Writes the user's configuration file with all keys commented out. Throws when one exists. */
export function createUserConfig(env: Env): { file: string } {
  const { config: file } = batonHome(env)
  if (readIfThere(file) !== null) throw alreadyThere(env, file)
  writeConfig(env, file, CONFIG_TEMPLATE, null)
  return { file }
}

/**
 * Sets one key of the user's file, which must be valid as a whole afterwards.
 * `written` is YAML, as in the file.
 */
export function setUserConfigKey(
  env: Env,
  key: string,
  written: string,
): { file: string; value: unknown; changed: boolean } {
  const { config: file } = batonHome(env)
  const path = keyPath(key)
  const value = yamlValue(written)
  const before = readIfThere(file)
  const text = before?.toString('utf8') ?? ''
  const broken = checkText(file, text).filter((problem) => problem.key === '' && text !== '')
  if (broken.length > 0) throw refused(`${displayPath(file, env.HOME)} is not valid YAML, so no key was set.`, broken)
  const after = withValue(text, path, value, key)
  const problems = checkText(file, after)
  if (problems.length > 0)
    throw refused(`${replaceControls(key)} was not set, because the file would be invalid.`, problems)
  const changed = after !== text
  if (changed) writeConfig(env, file, after, before)
  return { file, value, changed }
}

/**
 * Lets the user edit a copy of the file, and replaces the file if the copy is valid.
 * `openEditor` returns when the editor has ended, and throws when there is none.
 * An invalid text is not deleted: `keptCopy` is called with its path.
 */
export function editUserConfig(
  env: Env,
  { openEditor, keptCopy }: { openEditor(copy: string): void; keptCopy(copy: string): void },
): { file: string; changed: boolean } {
  const { config: file } = batonHome(env)
  const before = readIfThere(file)
  const text = before?.toString('utf8') ?? CONFIG_TEMPLATE
  const folder = mkdtempSync(join(tmpdir(), 'baton-config-'))
  chmodSync(folder, 0o700)
  const copy = join(folder, 'config.yaml')
  writeFileSync(copy, text, { mode: 0o600 })
  let isKept = false
  try {
    openEditor(copy)
    const after = readFileSync(copy, 'utf8')
    const changed = after !== text || before === null
    const problems = changed ? checkText(file, after) : []
    if (problems.length > 0) {
      isKept = true
      const stays = before === null ? 'no file was written' : 'the file was not changed'
      throw refused(`Your text is invalid, so ${stays}. Your text is kept in ${copy}.`, problems)
    }
    isKept = changed
    if (changed) writeConfig(env, file, after, before)
    isKept = false
    return { file, changed }
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true })
    else keptCopy(copy)
  }
}

/**
 * Writes the file unless another program changed it meanwhile.
 * `before` is null when there was none.
 */
function writeConfig(env: Env, file: string, text: string, before: Buffer | null): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileAtomic(file, text, { expect: before })
  } catch (error) {
    if (!(error instanceof FileChanged)) throw error
    if (before === null) throw alreadyThere(env, file)
    throw new BatonError(
      `${displayPath(file, env.HOME)} was changed by another program at the same time.`,
      'Nothing was written. Run the command again.',
      EXIT.refused,
    )
  }
}

function alreadyThere(env: Env, file: string): BatonError {
  return new BatonError(
    `${displayPath(file, env.HOME)} already exists and was not changed.`,
    'To change it: baton config edit, or baton config set <key> <value>.',
    EXIT.refused,
  )
}

function refused(message: string, problems: readonly ConfigProblem[]): BatonError {
  const lines = problems.map(({ key, line, reason, hint }) => {
    const place = key === '' ? '' : `${key}${line === undefined ? '' : ` (line ${line})`}: `
    return replaceControls(`${place}${reason}${hint === '' ? '' : `; ${hint}`}`)
  })
  return new BatonError(message, lines.join('\n       '), EXIT.usage, { errors: problems })
}

/**
 * Parses a key such as `handoff.mode`, `levels[0].at`, `hooks["save"].command`.
 * Throws for a key that does not have this form.
 */
function keyPath(key: string): KeyPath {
  const steps = [...key.matchAll(/(?:^|\.)([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)]
  if (steps.length > 0 && steps.map(([step]) => step).join('') === key)
    return steps.map(([, name, index, quoted]) => name ?? (index === undefined ? JSON.parse(quoted!) : Number(index)))
  throw new BatonError(
    `"${replaceControls(key)}" is not a key.`,
    'Write keys such as handoff.mode, levels[0].at, hooks["save"].command.',
    EXIT.usage,
  )
}

function yamlValue(written: string): unknown {
  try {
    return parseYamlValue(written)
  } catch (error) {
    throw new BatonError(
      `The value cannot be read: ${reasonOf(error).split('\n', 1)[0]}`,
      'Write it as in the file, such as 70%, false, [user, agent] or {mode: ask}.',
      EXIT.usage,
    )
  }
}

function withValue(text: string, path: KeyPath, value: unknown, key: string): string {
  try {
    return setYamlValue(text, path, value)
  } catch (error) {
    throw new BatonError(
      `${replaceControls(key)} was not set: ${reasonOf(error)}.`,
      'To see the file: baton config edit.',
      EXIT.usage,
    )
  }
}
