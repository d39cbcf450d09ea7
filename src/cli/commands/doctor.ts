import { type CheckResult, examineInstallation } from '../../doctor/doctor.js'
import { EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import type { Paint, Screen } from '../render/screen.js'
import { padEnd, wrap } from '../render/text.js'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check that Baton works; --fix repairs problems',
  usage: ['[--fix]'],
  about:
    'Checks every part, from the settings to an arriving signal, and says what is wrong and how to fix it. ' +
    'Exits with 1 if anything is wrong.\n' +
    'Without --fix it changes nothing. With --fix it never changes your choices or stored data.',
  options: { fix: { type: 'boolean', about: 'repair what can be repaired safely' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton doctor', 'check everything'],
    ['baton doctor --fix', 'check and repair'],
  ],
  json: '{ok, checks: [{name, ok, detail, fix, fixed}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const tell = (result: CheckResult): void => cli.print(checkLines(result, cli.screen, cli.env.HOME).join('\n'))
  const report = await examineInstallation(cli, { fix: call.flag('fix'), ...(call.json ? {} : { tell }) })
  cli.print(call.json ? JSON.stringify(report) : `\n${verdictLine(report.checks, cli.screen.paint)}`)
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

export function verdictLine(checks: readonly Checked[], paint: Paint): string {
  const failed = checks.filter(({ ok }) => !ok).length
  const fixed = checks.filter((check) => check.fixed).length
  const repaired = fixed === 0 ? '' : ` ${formatCount(fixed, 'problem')} ${fixed === 1 ? 'was' : 'were'} repaired.`
  if (failed === 0) return paint(`All ${checks.length} checks passed.${repaired}`, 'green')
  return paint(`${failed} of ${checks.length} checks failed.${repaired}`, 'red')
}
