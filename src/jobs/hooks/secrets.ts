const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL|PRIVATE_KEY|(?:^|_)KEY$/i
/** So many of them, as in CLAUDE_CODE_MAX_OUTPUT_TOKENS. */
const COUNT_NAME = /TOKENS$/i
/** A shorter value is a word of the language, or a number: taking it out would only spoil the text. */
const LEAST = 4
/** The same for a value that nobody filled in, and whose name alone speaks against it. */
const LEAST_NAMED = 8

type Env = Record<string, string | undefined>

/** `${NAME}` in a text, filled from the environment. The names that are not set are told, and nothing is used then. */
export function fillNames(text: string, env: Env): { text: string; used: string[]; missing: string[] } {
  const used: string[] = []
  const missing: string[] = []
  const filled = text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = env[name]
    if (value === undefined || value === '') missing.push(name)
    else used.push(value)
    return value ?? ''
  })
  return { text: filled, used, missing }
}

/** Takes out of a text what was filled in, and every value of a variable whose name says that it is a secret. */
export function redactor(env: Env, used: readonly string[]): (text: string) => string {
  const bySize = (a: string, b: string) => b.length - a.length
  const named = Object.entries(env).flatMap(([name, value]) => (value && isSecret(name, value) ? [value] : []))
  const values = [...used.filter(({ length }) => length >= LEAST), ...named]
  const forms = values.flatMap((value) => [
    ...[value, encodeURIComponent(value), Buffer.from(value).toString('base64'), JSON.stringify(value).slice(1, -1)],
  ])
  const found = [...new Set(forms)].sort(bySize)
  return (text) => found.reduce((left, value) => left.replaceAll(value, '[secret]'), text)
}

function isSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) && !COUNT_NAME.test(name) && value.length >= LEAST_NAMED && !/^\d+$/.test(value)
}
