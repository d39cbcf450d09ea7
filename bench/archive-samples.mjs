import { closeSync, openSync, writeSync } from 'node:fs'

/** Returns a seeded random number generator, so that every run measures the same text. */
export function lot(seed) {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4294967296
  }
}

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu zar bel con der est fin gol hir'.split(
  ' ',
)

/** A vocabulary of 60,000 words. A few occur nearly everywhere, most are rare, as in real text. */
function vocabulary() {
  const next = lot(42)
  return Array.from({ length: 60_000 }, (_, i) => {
    const count = i < 200 ? 1 + (i % 2) : 2 + Math.floor(next() * 3)
    return (
      Array.from({ length: count }, () => SYLLABLES[Math.floor(next() * SYLLABLES.length)]).join('') +
      (i % 7 === 0 ? String(i) : '')
    )
  })
}

const SIZES = [300, 900, 2_000, 400, 6_000, 1_200, 29_000, 700]

/**
 * Writes transcripts in the client's format, each step an answer, a command and its result.
 * Returns how many bytes of text they hold.
 */
export function writeConversation(file, { sessionId, bytes, seed, marks = [] }) {
  const words = vocabulary()
  const next = lot(seed)
  const word = () => words[Math.floor(next() ** 4 * words.length)]
  /** Returns lines like those that tools print: code, paths and messages. */
  const text = (size) => {
    let made = ''
    while (made.length < size) {
      const indent = '  '.repeat(Math.floor(next() * 5))
      const kind = next()
      if (kind < 0.4)
        made +=
          `${indent}const ${word()} = await ${word()}.${word()}(${word()}, { ${word()}: ` +
          `${Math.floor(next() * 100)} })\n`
      else if (kind < 0.6) made += `${indent}// ${word()} ${word()} ${word()} ${word()} ${word()}\n`
      else if (kind < 0.8)
        made += `src/${word()}/${word()}.ts:${Math.floor(next() * 400)}:  ${word()} ${word()} ${word()}\n`
      else made += `${indent}}\n\n${indent}if (${word()}) {\n`
    }
    return made
  }
  const id = () =>
    Math.floor(next() * 2 ** 48)
      .toString(16)
      .padStart(12, '0')
  const fd = openSync(file, 'w')
  let written = 0
  let textBytes = 0
  let block = ''
  for (let n = 0; written + block.length < bytes; n++) {
    const common = {
      isSidechain: false,
      userType: 'external',
      entrypoint: 'cli',
      cwd: '/bench/shop',
      sessionId,
      version: '2.1.325',
      gitBranch: 'main',
      timestamp: new Date(1_790_000_000_000 + n * 3_000).toISOString(),
    }
    const usage = {
      input_tokens: 8,
      cache_creation_input_tokens: 400,
      cache_read_input_tokens: 60_000 + n,
      output_tokens: 50,
    }
    const answer = (content) => ({
      model: 'claude-opus-4-6',
      id: `msg_${id()}`,
      type: 'message',
      role: 'assistant',
      content,
      usage,
    })
    const call = `toolu_${id()}`
    const mark = n % 997 === 500 ? (marks.shift() ?? '') : ''
    const said = `${text(200)} ${mark}`
    const command = `grep -rn ${words[Math.floor(next() * words.length)]} src/${words[Math.floor(next() * 5_000)]}.ts`
    const out = text(SIZES[n % SIZES.length])
    textBytes += said.length + command.length + out.length
    const lines = [
      { parentUuid: id(), ...common, message: answer([{ type: 'text', text: said }]), type: 'assistant', uuid: id() },
      {
        parentUuid: id(),
        ...common,
        message: answer([{ type: 'tool_use', id: call, name: 'Bash', input: { command } }]),
        type: 'assistant',
        uuid: id(),
      },
      {
        parentUuid: id(),
        ...common,
        type: 'user',
        uuid: id(),
        message: { role: 'user', content: [{ tool_use_id: call, type: 'tool_result', content: out, is_error: false }] },
        toolUseResult: { stdout: out, stderr: '', interrupted: false },
      },
    ]
    block += lines.map((one) => `${JSON.stringify(one)}\n`).join('')
    if (block.length > 1 << 20) {
      written += writeSync(fd, block)
      block = ''
    }
  }
  writeSync(fd, block)
  closeSync(fd)
  return textBytes
}
