import { type Finding, listed } from './finding.js'
import type { Patient } from './patient.js'

export function checkConfiguration({ home, cwd, env, instruments }: Patient): Finding {
  const { problems, notes, files } = instruments.loadConfig({ home, project: cwd, env })
  const read = files.filter(({ exists }) => exists).map(({ path }) => path)
  const places = read.length > 0 ? `${listed(read)}.` : `No file; the defaults apply. Yours would be ${home.config}.`
  const noted = notes.length > 0 ? ` ${notes.length === 1 ? 'One note' : `${notes.length} notes`}: baton config check.` : ''
  return {
    told: places + noted,
    faults: problems.map(({ key, file, line, reason, hint }) => ({
      detail: `${file}${line ? `:${line}` : ''}: ${key ? `${key}: ` : ''}${reason}.`,
      fix: hint || `Correct it; baton config check says when it is right.`,
    })),
  }
}
