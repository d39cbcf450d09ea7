import type { Cli } from '../command.js'
import { cut } from '../render/width.js'
import { wrap } from '../render/wrap.js'
import { gaugeLine, type Story } from './story.js'

/** While nothing is told, something moves: a client takes its time to start. */
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Lines that stay, and below them, on a terminal, one gauge that is drawn anew. */
export class Display {
  private drawn = false
  private frame = 0
  constructor(
    private readonly cli: Cli,
    private readonly silent: boolean,
  ) {}

  get paint(): Cli['screen']['paint'] {
    return this.cli.screen.paint
  }

  get columns(): number {
    return this.cli.screen.columns
  }

  line(text: string): void {
    if (this.silent) return
    this.clear()
    this.cli.print(wrap(text, this.columns, 2).join('\n'))
  }

  gauge(story: Story): void {
    if (this.silent || !this.cli.screen.terminal) return
    const beat = FRAMES[this.frame++ % FRAMES.length]!
    process.stdout.write(`\r\u001b[2K${cut(`${this.paint(beat, 'cyan')} ${gaugeLine(story, this.paint)}`, this.columns - 1)}`)
    this.drawn = true
  }

  clear(): void {
    if (!this.drawn) return
    process.stdout.write('\r\u001b[2K')
    this.drawn = false
  }
}
