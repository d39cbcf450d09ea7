import { BatonError, EXIT } from '../lib/errors.js'

/** Why a file was left as it was. Thrown before anything is changed. */
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
