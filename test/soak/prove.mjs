/** Prints the result of one check. A failed check fails the program, but later checks still run. */
let failed = 0

export function prove(holds, what, detail = '') {
  if (!holds) failed++
  console.log(`${holds ? '  proved' : '  FAILED'}  ${what}${detail === '' ? '' : ` (${detail})`}`)
}

export function end() {
  process.exit(failed === 0 ? 0 : 1)
}
