// Draws a terminal's screen as an SVG: node scripts/picture.mjs < screen > docs/demo.svg. Reads
// ANSI text as `tmux capture-pane -e -p` prints it.
import { readFileSync } from 'node:fs'

const COLOURS = { 31: '#e06c75', 32: '#98c379', 33: '#e5c07b', 36: '#56b6c2', 90: '#7f848e' }
const CELL = 8.4
const LINE = 19
const lines = readFileSync(0, 'utf8').replace(/\s+$/, '').split('\n')
const width = Math.ceil(Math.max(...lines.map((line) => line.replace(/\u001b\[[\d;]*m/g, '').length)) * CELL + 40)
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const rows = lines.map((line, row) => {
  let style = { fill: '#d7dae0', bold: false, dim: false }
  let column = 0
  const parts = line.split(/\u001b\[([\d;]*)m/).map((part, index) => {
    if (index % 2 === 1) {
      for (const code of part === '' ? [0] : part.split(';').map(Number)) {
        if (code === 0 || code === 39) style = { fill: '#d7dae0', bold: false, dim: false }
        else if (code === 1) style = { ...style, bold: true }
        else if (code === 2) style = { ...style, dim: true }
        else if (COLOURS[code]) style = { ...style, fill: COLOURS[code] }
      }
      return ''
    }
    if (part === '') return ''
    const x = 20 + column * CELL
    column += [...part].length
    const look = `${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity="0.6"' : ''}`
    return (
      `<text x="${x.toFixed(1)}" y="${52 + row * LINE}" fill="${style.fill}"${look} ` +
      `textLength="${([...part].length * CELL).toFixed(1)}" xml:space="preserve">${escaped(part)}</text>`
    )
  })
  return parts.join('')
})
const height = 70 + lines.length * LINE
const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
const font = `font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14"`
const buttons = ['#e06c75', '#e5c07b', '#98c379'].map(
  (colour, index) => `<circle cx="${20 + 18 * index}" cy="18" r="5" fill="${colour}"/>`,
)
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>
<rect width="100%" height="100%" rx="8" fill="#1e2127"/>${buttons.join('')}
${rows.filter(Boolean).join('\n')}
</svg>
`)
