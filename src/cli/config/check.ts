import type { Note } from '../../config/compiled.js'
import { loadConfig } from '../../config/load-config.js'
import type { ConfigProblem } from '../../contract/policy.js'
import { EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import type { Call, Cli } from '../command.js'
import { tilde } from '../render/paths.js'
import { harmless } from '../render/width.js'
import { wrap } from '../render/wrap.js'

/** Everything wrong in the files that apply in this folder, and what is accepted but not yet acted on. */
export function check(call: Call, cli: Cli): number {
  const loaded = loadConfig({ home: batonHome(cli.env), project: cli.cwd, env: cli.env })
  const files = loaded.files.map(({ path, exists }) => ({ path, exists }))
  if (call.json) cli.print(JSON.stringify({ ok: loaded.ok, errors: loaded.problems, notes: loaded.notes, files }))
  else cli.print(report(loaded.problems, loaded.notes, files, cli).join('\n'))
  return loaded.ok ? EXIT.done : EXIT.usage
}

function report(problems: ConfigProblem[], notes: Note[], files: { path: string; exists: boolean }[], cli: Cli): string[] {
  const { paint, columns } = cli.screen
  const place = (file: string, line?: number): string => `${tilde(file, cli.env.HOME)}${line ? `:${line}` : ''}`
  const read = files.filter((file) => file.exists)
  const head =
    problems.length > 0
      ? paint(
          `${problems.length === 1 ? 'One thing is' : `${problems.length} things are`} wrong; sessions go on with the last good configuration.`,
          'red',
        )
      : read.length > 0
        ? `The configuration is right (${read.map((file) => place(file.path)).join(', ')}).`
        : `There is no configuration file: the defaults apply. Yours would be ${place(files[0]!.path)}.`
  return [
    head,
    ...problems.flatMap(({ key, file, line, reason, hint }) => [
      '',
      `${paint(harmless(key === '' ? 'the whole file' : key), 'bold')}  ${paint(place(file, line), 'dim')}`,
      ...wrap(`  ${harmless(reason)}`, columns, 2),
      ...(hint === '' ? [] : wrap(`  ${harmless(hint)}`, columns, 2)),
    ]),
    ...(notes.length > 0
      ? ['', paint('Notes', 'bold'), ...notes.flatMap((note) => wrap(`  ${noteText(note, place(note.file))}`, columns, 4))]
      : []),
  ]
}

function noteText({ key, text }: Note, place: string): string {
  return harmless(key === '' ? `${place}: ${text}` : `${key} (${place}): ${text}`)
}
