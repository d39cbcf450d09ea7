import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { briefNamed, editableText, reviseText } from '../../briefs-of.js'
import type { BriefRecord } from '../../contract/brief.js'
import { beginEditing, endEditing } from '../../engine/handoff-calls.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { whatNext } from '../commands/handoff.js'
import { inHouse } from '../open-house.js'
import { scoreText } from '../render/brief-lines.js'
import { tilde } from '../render/paths.js'
import { wrap } from '../render/wrap.js'
import { bodyIn, callerOf } from './find.js'

export async function edit(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const old = briefNamed(house, call.words[1]!)
    const text = editableText(house, callerOf(cli), old)
    const file = call.value('file')
    if (file !== null) return keep(house, call, cli, old, text, bodyIn(house, cli, file))
    const folder = mkdtempSync(join(tmpdir(), 'baton-edit-'))
    const copy = join(folder, `${old.briefId}.md`)
    writeFileSync(copy, text, { mode: 0o600 })
    chmodSync(folder, 0o700)
    let kept = false
    beginEditing(house.engine.parts, old.briefId)
    try {
      openEditor(cli, copy, call.json)
      const code = keep(house, call, cli, old, text, bodyIn(house, cli, copy))
      kept = true
      return code
    } finally {
      // What somebody has just written is not thrown away because it could not be used.
      if (!kept) endEditing(house.engine.parts, old.briefId)
      if (kept || readFileSync(copy, 'utf8') === text) rmSync(folder, { recursive: true, force: true })
      else cli.note(`Your text is still in ${copy}.`)
    }
  })
}

function openEditor(cli: Cli, file: string, json: boolean): void {
  const editor = cli.env.VISUAL || cli.env.EDITOR || (cli.screen.terminal ? 'vi' : '')
  if (editor === '')
    throw new BatonError('There is no editor to open here.', 'Set EDITOR, or give the new text with --file FILE.', EXIT.usage)
  // Editors are named with their options (`code --wait`): the shell takes them apart.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'baton', file], {
    stdio: [0, json ? 2 : 1, 2],
    env: cli.env as NodeJS.ProcessEnv,
    cwd: cli.cwd,
  })
  if (status === 0) return
  throw new BatonError(
    `The editor (${editor}) ended with ${error ? error.message : (status ?? 'a signal')}; the brief was left as it is.`,
    'Set EDITOR to another one, or give the new text with --file FILE.',
  )
}

function keep(house: House, call: Call, cli: Cli, old: BriefRecord, before: string, body: string): number {
  const { brief, handoff, changed } = reviseText(house, callerOf(cli), old, before, body)
  if (!changed) {
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(old), changed, handoff: null, next: null }))
    else cli.print(`Nothing was changed in ${old.briefId}.`)
    return EXIT.done
  }
  const next = handoff && whatNext(house, cli, { handoff })
  if (call.json) cli.print(JSON.stringify({ ...viewBrief(brief), changed: true, handoff: handoff && viewHandoff(handoff), next }))
  else {
    const { columns } = cli.screen
    const text = `${brief.briefId} takes the place of ${old.briefId}. It carries ${scoreText(brief.coverage)} of what happened.`
    cli.print(
      [...wrap(text, columns, 2), `  ${tilde(brief.path, cli.env.HOME)}`, ...(next ? wrap(next, columns, 2) : [])].join('\n'),
    )
  }
  return EXIT.done
}
