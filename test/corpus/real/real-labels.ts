import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A sentence of a transcript that a reader labelled. */
export interface RealLabel {
  /** Literal quote. */
  text: string
  /** Line of the transcript, counted from 1. */
  line: number
  /** Who decided or asked. Absent for constraints, which are always the user's. */
  by?: 'user' | 'agent'
  /** How the user said it: `dialog`, `plan approved`, `rejection feedback` and the like. */
  how?: string
  /** Line where it was taken back or fulfilled. Absent while it is in force. */
  until?: number
  /** True when reasonable readers differ: counts neither as found nor as missed. */
  optional?: boolean
}

export interface RealCheck {
  command: string
  line: number
  outcome: 'passed' | 'failed' | 'unknown'
  until?: number
}

/** Labels of one session. Sections that a reader left out are empty. */
export interface RealLabels {
  file: string
  language: string
  lastRequest: string
  constraints: RealLabel[]
  decisions: RealLabel[]
  questionsOpen: RealLabel[]
  checks: RealCheck[]
  filesChanged: string[]
  commits: string[]
  todosOpen: string[]
}

/** A question that a successor may have. Any one of the answers counts. */
export interface Probe {
  kind: string
  question: string
  answers: string[]
}

/** A labelled session of a folder with real sessions. */
export interface RealSession {
  name: string
  file: string
  labels: RealLabels
  /** Last line that the probes are about. Null when there are no probes. */
  boundary: number | null
  probes: Probe[]
}

/** A prompt of a user with the constraints that it states. */
export interface PromptCase {
  file: string
  line: number
  constraints: string[]
}

/** Reads `labels/` and `probes/`. Labels without a readable transcript name are refused. */
export function readRealSessions(folder: string): RealSession[] {
  return jsonFiles(path.join(folder, 'labels')).map((name) => {
    const raw = readJson(path.join(folder, 'labels', name))
    const probes = readJsonIfThere(path.join(folder, 'probes', name))
    const file = path.join(folder, String(raw.source?.file ?? ''))
    return {
      name: name.replace(/\.json$/, ''),
      file,
      labels: {
        file,
        language: String(raw.language ?? 'en'),
        lastRequest: String(raw.last_request ?? ''),
        constraints: raw.constraints ?? [],
        decisions: raw.decisions ?? [],
        questionsOpen: raw.questions_open ?? [],
        checks: raw.checks ?? [],
        filesChanged: texts(raw.files_changed),
        commits: texts(raw.commits),
        todosOpen: texts(raw.todos_open),
      },
      boundary: probes?.boundary ?? null,
      probes: probes?.probes ?? [],
    }
  })
}

/** Reads `prompt-constraints.json`. Empty when the folder has none. */
export function readPromptCases(folder: string): PromptCase[] {
  const raw = readJsonIfThere(path.join(folder, 'prompt-constraints.json'))
  return (raw?.cases ?? []).map(
    (one: { source: { file: string; line: number }; constraints: (string | { text: string })[] }) => ({
      file: path.join(folder, one.source.file),
      line: one.source.line,
      constraints: texts(one.constraints),
    }),
  )
}

/** Returns the transcripts of `sessions/`, labelled or not. */
export function readSessionFiles(folder: string): string[] {
  const sessions = path.join(folder, 'sessions')
  return readdirSync(sessions)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => path.join(sessions, name))
}

// biome-ignore lint/suspicious/noExplicitAny: files of the folder are read leniently
type Json = any

const readJson = (file: string): Json => JSON.parse(readFileSync(file, 'utf8'))

function readJsonIfThere(file: string): Json | null {
  try {
    return readJson(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const jsonFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()

const texts = (values: Json): string[] =>
  (values ?? []).map((one: Json) => (typeof one === 'string' ? one : String(one.text ?? one.subject ?? one.path ?? '')))
