/** The transcript is not what was planned any more: trying again cannot help. */
export class SourceTrouble extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'SourceTrouble'
  }
}
