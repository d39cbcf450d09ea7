/** What a soak program has shown, line by line. One thing that does not hold fails it, but the rest is still looked at. */
let failed = 0

export function prove(holds, what, detail = '') {
  if (!holds) failed++
  console.log(`${holds ? '  proved' : '  FAILED'}  ${what}${detail === '' ? '' : ` (${detail})`}`)
}

export function end() {
  process.exit(failed === 0 ? 0 : 1)
}
