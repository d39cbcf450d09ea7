import type { Cli } from './command.js'
import { type Screen, screenOf } from './render/screen.js'
import { localTime } from './render/times.js'
import { cut } from './render/width.js'

const EVERY_MS = 1000
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const CTRL_C = '\u0003'
const CTRL_Z = '\u001a'

/** Draws lines in place, on the terminal's other screen, until q, Ctrl-C or a signal; then the terminal is as it was. */
export function watch(cli: Cli, lines: (screen: Screen) => string[]): Promise<number> {
  const { stdout, stdin } = process
  return new Promise((resolve, reject) => {
    let open = false
    const show = (): void => {
      open = true
      stdout.write(ENTER)
      if (stdin.isTTY) stdin.setRawMode(true).resume()
      draw()
    }
    const hide = (): void => {
      if (!open) return
      open = false
      if (stdin.isTTY) stdin.setRawMode(false).pause()
      stdout.write(LEAVE)
    }
    const leave = (): void => {
      clearInterval(timer)
      stdout.off('resize', draw)
      stdin.off('data', key)
      for (const signal of SIGNALS) process.off(signal, end)
      process.off('SIGCONT', show)
      process.off('exit', hide)
      hide()
    }
    const end = (): void => {
      leave()
      resolve(0)
    }
    const draw = (): void => {
      if (!open) return
      try {
        const screen = screenOf(stdout, cli.env)
        stdout.write(frame(lines(screen), screen, cli.now()))
      } catch (error) {
        leave()
        reject(error)
      }
    }
    const key = (typed: Buffer): void => {
      const text = typed.toString()
      if (text.includes(CTRL_C) || text === 'q') end()
      else if (text === CTRL_Z) {
        hide()
        process.kill(process.pid, 'SIGSTOP')
      }
    }
    const timer = setInterval(draw, EVERY_MS)
    for (const signal of SIGNALS) process.on(signal, end)
    process.on('SIGCONT', show)
    process.once('exit', hide)
    stdout.on('resize', draw)
    stdin.on('data', key)
    show()
  })
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** One picture: every line written over the old one, nothing cleared before it is replaced, shown at once where the terminal can. */
export function frame(lines: readonly string[], screen: Pick<Screen, 'columns' | 'rows' | 'paint'>, now: Date): string {
  const room = Math.max(1, screen.rows - 1)
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, Math.max(0, room - 1)), `… ${lines.length - room + 1} more lines`]
  const foot = screen.paint(`${localTime(now)} · q ends`, 'dim')
  const texts = screen.rows > 2 ? [...shown, ...Array<string>(room - shown.length).fill(''), foot] : shown
  const body = texts.map((line) => `${cut(line, screen.columns)}\u001b[K`).join('\r\n')
  return `\u001b[?2026h\u001b[H${body}\u001b[J\u001b[?2026l`
}
