import { type CheckResult, examineInstallation } from '../../doctor/doctor.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/shown-text.js'
import type { Call, Cli, Command } from '../command.js'
import type { Paint, Screen } from '../render/screen.js'
import { padEnd, wrap } from '../render/text.js'

export const command: Command = {
  name: 'doctor',
  summary: 'prove that everything works, from the settings to a signal that arrives',
  usage: ['[--fix]'],
  about:
    'Checks every part and says what is wrong and how to fix it; exits with 1 if something is. It changes nothing ' +
    'unless --fix is given, and then nothing that you chose or stored.',
  options: { fix: { type: 'boolean', about: 'fix what can be fixed safely' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton doctor', 'does everything work?'],
    ['baton doctor --fix', 'fix what it can'],
  ],
  json: '{ok, checks: [{name, ok, detail, fix, fixed}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const tell = (result: CheckResult): void => cli.print(checkLines(result, cli.screen, cli.env.HOME).join('\n'))
  const report = await examineInstallation(cli, { fix: call.flag('fix'), ...(call.json ? {} : { tell }) })
  cli.print(call.json ? JSON.stringify(report) : `\n${verdict(report.checks, cli.screen.paint)}`)
  return report.ok ? EXIT.done : EXIT.failed
}

interface Checked {
  name: string
  ok: boolean
  detail: string
  fix: string | null
  fixed: boolean
}

const NAME_WIDTH = 14

/** Renders one check for the user: the finding and, below it, the remedy. */
export function checkLines(
  { name, ok, detail, fix, fixed }: Checked,
  { paint, columns }: Screen,
  home: string | undefined,
): string[] {
  const mark = fixed ? paint('✓', 'yellow') : ok ? paint('✓', 'green') : paint('✗', 'red')
  const indent = NAME_WIDTH + 3
  const shown = (text: string): string => replaceControls(home ? text.replaceAll(`${home}/`, '~/') : text)
  const [first = '', ...others] = detail.split('\n')
  const lines = [
    ...wrap(`${mark} ${padEnd(name, NAME_WIDTH)} ${detail === '' ? paint('–', 'dim') : shown(first)}`, columns, indent),
    ...others.flatMap((line) => wrap(`${' '.repeat(indent)}${shown(line)}`, columns, indent)),
  ]
  if (fix === null) return lines
  return [...lines, ...wrap(`${' '.repeat(indent)}${shown(fix)}`, columns, indent).map((line) => paint(line, 'bold'))]
}

export function verdict(checks: readonly Checked[], paint: Paint): string {
  const failed = checks.filter(({ ok }) => !ok).length
  const fixed = checks.filter((check) => check.fixed).length
  const mended = fixed === 0 ? '' : ` ${fixed === 1 ? 'One thing was' : `${fixed} things were`} mended.`
  if (failed === 0) return paint(`All is well.${mended}`, 'green')
  return paint(
    `${failed === 1 ? 'One check' : `${failed} checks`} of ${checks.length} found something.${mended}`,
    'red',
  )
}
