/** Bytes: each level is a file, whose name the disk bounds. */
const MOST = 120

export interface BranchWords {
  /** null: a prompt alone. */
  agent: string | null
  job: string
  /** null: the job's id stands for it. */
  workItem: string | null
}

/** A branch's name from its pattern: always one that git takes. */
export function branchName(pattern: string, { agent, job, workItem }: BranchWords): string {
  const filled = pattern
    .replaceAll('{agent}', word(agent ?? 'job'))
    .replaceAll('{job}', word(job))
    .replaceAll('{workItem}', word(workItem ?? job) || word(job))
  const parts = filled
    .split('/')
    .map(part)
    .filter((name) => name !== '')
  const name = fitted(parts.join('/')).replace(/(?:\.lock|[/.-])+$/i, '')
  return name === '' || name === 'HEAD' || name === '@' ? `baton-${word(job)}` : name
}

function fitted(name: string): string {
  let taken = ''
  for (const letter of name) {
    if (Buffer.byteLength(taken + letter) > MOST) break
    taken += letter
  }
  return taken
}

/** The next name to try when this one is taken: from `x` by 2 to `x-2`. */
export function withSuffix(name: string, number: number): string {
  return number === 1 ? name : `${name}-${number}`
}

/** Whether a branch is one that the pattern's name, or a suffix of it, gave. */
export function isNamed(branch: string, name: string): boolean {
  const flat = name.replaceAll('/', '-')
  return [name, flat].some(
    (known) => branch === known || (branch.startsWith(`${known}-`) && /^\d+$/.test(branch.slice(known.length + 1))),
  )
}

/** What a person wrote, as one piece of a name: no slash that would make a level of its own. */
function word(text: string): string {
  return text.replaceAll('/', '-')
}

/** One level of a name, by the rules of `git check-ref-format`, and without what a shell would have to quote. */
function part(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._@+=,#-]+/gu, '-')
    .replace(/@\{|\.{2,}/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[.-]+/, '')
    .replace(/(?:\.lock)+$/i, '')
    .replace(/[.-]+$/, '')
}
