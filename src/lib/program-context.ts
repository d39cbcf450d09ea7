import { join } from 'node:path'

/** The program that uses the app: its environment, its clock and the folder of its built files. */
export interface ProgramContext {
  env: Record<string, string | undefined>
  program: string
  now(): Date
}

/** Path of the hook's engine, which also does background work. */
export const engineOf = ({ program }: Pick<ProgramContext, 'program'>): string => join(program, 'hook-engine.cjs')
