/**
 * Patterns of overrides: `*` stands for any text, `?` for one character; everything else, brackets too, for itself
 * (model names carry brackets: `claude-sonnet-4-5[1m]`).
 */
export function matchesText(pattern: string, text: string): boolean {
  return matches(pattern, text, () => true)
}

/**
 * For folders `*` stays within one name and `**` crosses them. A pattern that does not begin with `/` is compared with the end
 * of the path, name by name; one that ends in `/**` also matches the folder itself.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const folder = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const whole = pattern.startsWith('/') || pattern.startsWith('**') ? pattern : `**/${pattern}`
  const inside = (character: string) => character !== '/'
  if (matches(whole, folder, inside)) return true
  return whole.endsWith('/**') && matches(whole.slice(0, -3), folder, inside)
}

/** Steps back only to the newest star, and from there to the newest double star: linear for one star, never exponential. */
function matches(pattern: string, text: string, starMayCover: (character: string) => boolean): boolean {
  let p = 0
  let t = 0
  let star: { p: number; t: number } | null = null
  let doubleStar: { p: number; t: number } | null = null
  while (p < pattern.length || t < text.length) {
    if (pattern.startsWith('**', p)) {
      doubleStar = { p, t }
      star = null
      p += 2
    } else if (pattern[p] === '*') {
      star = { p, t }
      p += 1
    } else if (t < text.length && (pattern[p] === text[t] || (pattern[p] === '?' && starMayCover(text[t]!)))) {
      p += 1
      t += 1
    } else if (star && star.t < text.length && starMayCover(text[star.t]!)) {
      star.t += 1
      p = star.p + 1
      t = star.t
    } else if (doubleStar && doubleStar.t < text.length) {
      doubleStar.t += 1
      star = null
      p = doubleStar.p + 2
      t = doubleStar.t
    } else {
      return false
    }
  }
  return true
}
