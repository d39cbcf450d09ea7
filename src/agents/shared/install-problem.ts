import { BatonError, EXIT } from '../../lib/errors.js'

/** Reports why a file was not changed. Thrown before anything is changed. */
export class InstallProblem extends BatonError {
  constructor(
    readonly path: string,
    readonly reason: string,
    hint: string,
  ) {
    super(`${path}: ${reason}`, hint, EXIT.refused, { path, reason })
    this.name = 'InstallProblem'
  }
}

/** Reports why Baton cannot edit the text of a settings file. */
export class SettingsFault extends Error {
  constructor(
    readonly reason: string,
    readonly hint: string,
  ) {
    super(reason)
    this.name = 'SettingsFault'
  }
}

/**
 * Decodes settings as text.
 * Refuses bytes that are not UTF-8, because they would not survive being written back.
 */
export function decodeSettingsText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new InstallProblem(path, 'the file is not UTF-8 text', 'Save the file as UTF-8 and try again.')
  }
}

/** Runs `read` and adds the file's path to a SettingsFault. */
export function addPathToFault<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SettingsFault) throw new InstallProblem(path, error.reason, error.hint)
    throw error
  }
}
