import { cpus, loadavg } from 'node:os'

export function render({ name, about, rows, seconds }) {
  const cells = rows.map((one) => [
    one.name,
    `${number(one.value)} ${one.unit}`,
    one.p90 === null ? '' : number(one.p90),
    one.n === null ? '' : String(one.n),
    one.bound === null ? '' : `${one.least ? '≥' : '≤'} ${number(one.bound)}${one.rule ? ` (${one.rule})` : ''}`,
    one.holds === null ? '' : one.holds ? 'holds' : 'BROKEN',
    one.note,
  ])
  const head = ['', 'median', 'p90', 'n', 'bound', '', '']
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((line) => line[i].length)))
  const right = new Set([1, 2, 3])
  const line = (texts) =>
    texts
      .map((text, i) => (right.has(i) ? text.padStart(widths[i]) : text.padEnd(widths[i])))
      .join('  ')
      .trimEnd()
  return [`\n${name}: ${about} (${Math.round(seconds)} s)`, line(head), ...cells.map(line)].join('\n')
}

export function number(value) {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
}

/** Describes the machine that the figures depend on, and says so when it is busy. */
export function circumstances() {
  const [load] = loadavg()
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    load_before: Number(load.toFixed(2)),
    busy: load > 0.7,
  }
}
