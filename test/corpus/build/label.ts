import type { FactKind, FactState } from '../../../src/contract/fact.js'

/** A fact a careful reader lists at the end of a transcript. */
export interface Label {
  kind: FactKind
  text: string
  state: FactState | null
  /** Line it was last seen at, from 1. */
  line: number
  /** Right to report, and no loss to leave out. */
  optional?: boolean
  /** A commit's id, where the transcript tells it. */
  id?: string
  note?: string
}

/** Something that looks like a fact and is none. */
export interface Decoy {
  kind: FactKind
  text: string
  why: string
}

export interface Labels {
  name: string
  about: string
  /** The language the user writes in; `mixed` for several. */
  language: string
  /** The folder the session began in: paths inside it are relative to it. */
  cwd: string
  facts: Label[]
  decoys: Decoy[]
}

/** Facts as they come up; what is seen again takes the place of what stood before. */
export class Sheet {
  readonly facts: Label[] = []
  readonly decoys: Decoy[] = []

  put(label: Label): void {
    const before = this.find(label.kind, label.text)
    if (before === undefined) this.facts.push(label)
    else Object.assign(before, label, before.optional && !label.optional ? { optional: undefined } : {})
  }

  find(kind: FactKind, text: string): Label | undefined {
    return this.facts.find((fact) => fact.kind === kind && fact.text === text)
  }

  remove(label: Label): void {
    this.facts.splice(this.facts.indexOf(label), 1)
  }

  decoy(kind: FactKind, text: string, why: string): void {
    this.decoys.push({ kind, text, why })
  }
}
