import type { FactKind, FactState } from '../../../src/contract/fact.js'
import { Sheet } from './label.js'
import { type Setting, Tape } from './tape.js'

/** Labels facts of the newest message of the user or the agent, which must contain their text. */
export class Marks {
  readonly tape: Tape
  readonly sheet = new Sheet()
  protected lastPrompt = ''
  protected promptLine = 0
  protected lastSaid = ''
  protected saidLine = 0

  constructor(readonly setting: Setting) {
    this.tape = new Tape(setting)
  }

  protected label(
    kind: FactKind,
    text: string,
    state: FactState | null,
    more: { optional?: boolean; id?: string; note?: string; line?: number } = {},
  ): void {
    const { line, ...rest } = more
    this.sheet.put({ kind, text, state, line: line ?? this.tape.line, ...rest })
  }

  must(core: string, note?: string): this {
    return this.fromPrompt('constraint', core, 'required', { note })
  }

  never(core: string, note?: string): this {
    return this.fromPrompt('constraint', core, 'forbidden', { note })
  }

  wonders(core: string, state: 'open' | 'answered', optional = state === 'answered'): this {
    return this.fromPrompt('question', core, state, optional ? { optional } : {})
  }

  /** Labels an optional constraint: one said before, or as much a wish as a rule. */
  mayBind(core: string, state: 'required' | 'forbidden' = 'required'): this {
    return this.fromPrompt('constraint', core, state, { optional: true })
  }

  /** Labels a decision of the user. */
  settles(core: string): this {
    return this.fromPrompt('decision', core, null, { optional: true })
  }

  /** Labels an action with its reason, which may count as a decision. */
  mayDecide(core: string): this {
    return this.fromAgent('decision', core, null, { optional: true })
  }

  decides(core: string, note?: string): this {
    return this.fromAgent('decision', core, null, { note })
  }

  asks(core: string, state: 'open' | 'answered', optional = state === 'answered'): this {
    return this.fromAgent('question', core, state, optional ? { optional } : {})
  }

  /** Labels a commit that the user made, which is optional to report. */
  mayCommit(subject: string, id: string): this {
    this.label('commit', subject, null, { id, optional: true, note: 'made by the user' })
    return this
  }

  /** Makes an earlier fact optional, because it no longer holds. */
  withdrawn(kind: FactKind, core: string, note: string): this {
    const label = this.sheet.find(kind, core)
    if (label === undefined) throw new Error(`nothing to withdraw: ${core}`)
    label.optional = true
    label.note = note
    return this
  }

  decoy(kind: FactKind, text: string, why: string): this {
    this.sheet.decoy(kind, text, why)
    return this
  }

  private fromPrompt(
    kind: FactKind,
    core: string,
    state: FactState | null,
    more: { note?: string; optional?: boolean },
  ): this {
    if (!this.lastPrompt.includes(core)) throw new Error(`${this.setting.name}: the prompt does not say: ${core}`)
    this.label(kind, core, state, { ...more, line: this.promptLine })
    return this
  }

  private fromAgent(
    kind: FactKind,
    core: string,
    state: FactState | null,
    more: { note?: string; optional?: boolean },
  ): this {
    if (!this.lastSaid.includes(core)) throw new Error(`${this.setting.name}: the agent does not say: ${core}`)
    this.label(kind, core, state, { ...more, line: this.saidLine })
    return this
  }
}
