import type { FactKind, FactState } from '../../../src/contract/fact.js'

/** A fact that a careful reader lists at the end of a transcript. */
export interface Label {
  kind: FactKind
  text: string
  state: FactState | null
  /** Line where the fact was last seen, from 1. */
  line: number
  /** True for a fact that is correct to report but not required. */
  optional?: boolean
  /** A commit's id, if the transcript contains it. */
  id?: string
  note?: string
}

/** A text that looks like a fact and is none. */
export interface Decoy {
  kind: FactKind
  text: string
  why: string
}

export interface Labels {
  name: string
  about: string
  /** Language of the user's messages; `mixed` for several. */
  language: string
  /** Folder in which the session began; labelled paths inside it are relative to it. */
  cwd: string
  facts: Label[]
  decoys: Decoy[]
}

/** Collects facts in order; a fact that is seen again replaces its earlier entry. */
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
