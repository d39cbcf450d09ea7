import { type CheckResult, runDoctor } from '../../install/doctor.js'
import { EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { VERSION } from '../../version.js'
import type { Call, Cli, Command } from '../command.js'
import { instruments } from '../instruments.js'
import { launcherHere } from '../launcher-for.js'
import { modHere } from '../mod-here.js'
import { checkLines, verdict } from '../render/check-lines.js'

export const command: Command = {
  name: 'doctor',
  summary: 'prove that everything works, from the settings to a signal that arrives',
  usage: ['[--fix]'],
  about:
    'Looks at every part and says what is wrong and how to mend it; ends with 1 if something is. It changes nothing ' +
    'unless --fix is given, and then only what touches nobody’s choices and data.',
  options: { fix: { type: 'boolean', about: 'mend what can be mended' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton doctor', 'is everything all right?'],
    ['baton doctor --fix', 'mend it'],
  ],
  json: '{ok, checks: [{name, ok, detail, fix, fixed}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const home = batonHome(cli.env)
  const tell = (result: CheckResult): void => cli.print(checkLines(result, cli.screen, cli.env.HOME).join('\n'))
  const report = await runDoctor({
    home,
    env: cli.env,
    cwd: cli.cwd,
    version: VERSION,
    launcher: launcherHere('claude-code', home, cli),
    mod: modHere(home),
    instruments: instruments(home, cli.env),
    now: cli.now,
    fix: call.flag('fix'),
    ...(call.json ? {} : { tell }),
  })
  cli.print(call.json ? JSON.stringify(report) : `\n${verdict(report.checks, cli.screen.paint)}`)
  return report.ok ? EXIT.done : EXIT.failed
}
