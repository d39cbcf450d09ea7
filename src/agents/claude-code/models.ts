/**
 * Facts about a model's window that follow from its name, as the client resolves it.
 * `by` is `auto` for models that compact only after the API refused a prompt.
 * All other models, and all with a configured window, compact proactively.
 */
interface ModelFacts {
  /**
   * Name without provider prefix, date, revision and `[1m]`. Null for a name that this table lacks.
   */
  family: string | null
  window: number
  by: 'auto' | 'model-default' | 'unknown-model'
  /** Tokens that the client keeps free for an answer. */
  reserve: number
}

const SMALL = 200_000
const LARGE = 1_000_000
const RESERVE = 20_000

const BY_REFUSAL = ['opus-4', 'opus-4-1', 'opus-4-5', 'sonnet-4', 'sonnet-4-5', 'haiku-4-5'].map(named)
const BY_ITSELF = ['opus-4-6', 'sonnet-4-6'].map(named)
const BY_ITSELF_LARGE = [
  'opus-4-7',
  'opus-4-8',
  'opus-5',
  'opus-5-5',
  'sonnet-5',
  'sonnet-5-5',
  'haiku-5-5',
  'fable-5',
  'fable-5-1',
  'fable-5-2',
  'mythos-5',
].map(named)

function named(name: string): string {
  return `claude-${name}`
}

/** Short names, and names that the client replaces by a newer model. */
const ALIASES: Record<string, string> = {
  default: 'claude-opus-5-5',
  best: 'claude-opus-5-5',
  opus: 'claude-opus-5-5',
  opusplan: 'claude-sonnet-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  fable: 'claude-fable-5-2',
  'claude-opus-4-1': 'claude-opus-5-5',
  'claude-opus-4-1-20250805': 'claude-opus-5-5',
  'claude-opus-4-20250514': 'claude-opus-5-5',
}

const REPOINTED: Record<string, string> = {
  opus: 'ANTHROPIC_DEFAULT_OPUS_MODEL',
  sonnet: 'ANTHROPIC_DEFAULT_SONNET_MODEL',
  haiku: 'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  fable: 'ANTHROPIC_DEFAULT_FABLE_MODEL',
}

const LARGE_SUFFIX = /\[1m\]$/i

/** Returns a model's full name for an alias, and other names unchanged. Keeps `[1m]`. */
export function resolveAlias(name: string, env: Record<string, string> = {}): string {
  const bare = name.replace(LARGE_SUFFIX, '').toLowerCase()
  const repointed = env[REPOINTED[bare] ?? ''] || ALIASES[bare]
  if (repointed === undefined) return name
  return LARGE_SUFFIX.test(name) && !LARGE_SUFFIX.test(repointed) ? `${repointed}[1m]` : repointed
}

export function requestsLargeWindow(name: string): boolean {
  return LARGE_SUFFIX.test(name)
}

/**
 * Returns the model's family, the same for every spelling: dated, of a cloud provider, with `[1m]`.
 * A model with an unknown name is its own family.
 */
export function modelFamilyOf(name: string): string {
  const bare = name.replace(LARGE_SUFFIX, '').toLowerCase()
  const old = /claude-3(-\d)?-(opus|sonnet|haiku)/.exec(bare)
  if (old !== null) return named(`3${old[1] ?? ''}-${old[2]}`)
  const found = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(bare)
  if (found === null) return bare
  const minor = found[3] === undefined || Number(found[3]) === 0 ? '' : `-${Number(found[3])}`
  return named(`${found[1]}-${found[2]}${minor}`)
}

export function modelWindowFacts(name: string): ModelFacts {
  const family = modelFamilyOf(name)
  const large = requestsLargeWindow(name)
  if (BY_ITSELF_LARGE.includes(family)) return { family, window: LARGE, by: 'model-default', reserve: RESERVE }
  if (BY_ITSELF.includes(family))
    return { family, window: large ? LARGE : SMALL, by: large ? 'auto' : 'model-default', reserve: RESERVE }
  const old = /^claude-3(-\d)?-(opus|sonnet|haiku)$/.exec(family)
  if (BY_REFUSAL.includes(family) || old !== null) {
    const reserve = old === null || old[1] === '-7' ? RESERVE : old[1] === undefined ? 4096 : 8192
    return { family, window: large ? LARGE : SMALL, by: 'auto', reserve }
  }
  return { family: null, window: LARGE, by: large ? 'auto' : 'unknown-model', reserve: RESERVE }
}
