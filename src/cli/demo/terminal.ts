export interface CommandLine {
  program: string
  args: string[]
}

/** A terminal needs a size, or the client draws nothing. */
const SIZE = 'stty rows 40 cols 120'
const PYTHON = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

/**
 * The same command in a terminal that nobody looks at: `script` makes one, which Linux and macOS bring along, or else Python. null: neither
 * is there.
 */
export function inTerminal(
  { program, args }: CommandLine,
  find: (name: string) => string | null,
  platform: NodeJS.Platform = process.platform,
): CommandLine | null {
  const shell = `${SIZE}; exec ${[program, ...args].map(quoted).join(' ')}`
  const script = find('script')
  if (script !== null) {
    const own = platform === 'darwin' ? ['-q', '/dev/null', '/bin/sh', '-c', shell] : ['-q', '-e', '-c', shell, '/dev/null']
    return { program: script, args: own }
  }
  const python = find('python3')
  return python === null ? null : { program: python, args: ['-c', PYTHON, '/bin/sh', '-c', shell] }
}

const quoted = (word: string): string => `'${word.replace(/'/g, `'\\''`)}'`
