// Loaded into a process before its program (node --require): holds the process after the first call
// of a function of node:fs whose arguments match. HOLD_CALL names the function, HOLD_MATCH is a
// regular expression, HOLD_GATE a FIFO (see gate.ts).
const fs = require('node:fs')
const { HOLD_CALL, HOLD_MATCH, HOLD_GATE } = process.env
const real = fs[HOLD_CALL]
fs[HOLD_CALL] = (...args) => {
  const result = real(...args)
  if (args.some((arg) => new RegExp(HOLD_MATCH).test(String(arg)))) {
    fs[HOLD_CALL] = real
    require('node:module').syncBuiltinESMExports()
    fs.readFileSync(HOLD_GATE)
  }
  return result
}
require('node:module').syncBuiltinESMExports()
