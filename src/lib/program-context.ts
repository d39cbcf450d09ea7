import { join } from 'node:path'

/** Environment, clock and folder of built files of the program that uses the app. */
export interface ProgramContext {
  env: Record<string, string | undefined>
  program: string
  now(): Date
}

/** Path of the hook's engine, which also does background work. */
export const hookEnginePath = ({ program }: Pick<ProgramContext, 'program'>): string => join(program, 'hook-engine.cjs')
