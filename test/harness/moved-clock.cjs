// Loaded into a process before its program (node --require): its clock is ahead by as many
// milliseconds as the file CLOCK_FILE says.
const { readFileSync } = require('node:fs')
const RealDate = Date
const sinceStart = performance.now.bind(performance)
const ahead = () => Number(readFileSync(process.env.CLOCK_FILE, 'utf8'))
const now = () => RealDate.now() + ahead()
performance.now = () => sinceStart() + ahead()
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args))
  }

  static now() {
    return now()
  }
}
