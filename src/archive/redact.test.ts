import { describe, expect, it } from 'vitest'
import { BUILT_IN, E_MAIL, ownPatterns, type Pattern, redactLines, redactText } from './redact.js'

const redacted = (text: string, patterns: readonly Pattern[] = BUILT_IN): string => redactText(text, patterns, new Map())

describe('redaction', () => {
  it.each([
    ['sk-ant-api03-AbCdEf0123456789AbCdEf', '[key removed]'],
    ['export OPENAI=sk-proj-abcdefghijklmnopqrstuvwx', 'export OPENAI=[key removed]'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[token removed]'],
    ['github_pat_11ABCDEFG0abcdefghijklmnop_xyz', '[token removed]'],
    ['key AKIAIOSFODNN7EXAMPLE here', 'key [key removed] here'],
    ['xoxb-123456789012-abcdefghijkl', '[token removed]'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstuv', '[key removed]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P', '[token removed]'],
    ['postgres://shop:hunter2@db.local:5432/x', 'postgres://shop:[password removed]@db.local:5432/x'],
    ['https://user:p%40ss@example.com/a', 'https://user:[password removed]@example.com/a'],
    ['Authorization: Bearer abc.def-ghi_jkl', 'Authorization: Bearer [token removed]'],
    ['DB_PASSWORD=correct-horse-battery', 'DB_PASSWORD=[secret removed]'],
    ['{"client_secret": "abcdef123456"}', '{"client_secret": "[secret removed]"}'],
    ['{\\"api_key\\": \\"abcdef123456\\"}', '{\\"api_key\\": \\"[secret removed]\\"}'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = [secret removed]'],
  ])('removes %s', (text, expected) => expect(redacted(text)).toBe(expected))

  it('removes a private key over several lines, also one that is cut', () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----'
    expect(redacted(`before\n${key}\nafter`)).toBe('before\n[private key removed]\nafter')
    expect(redacted(`before\n${key.slice(0, 50)}`)).toBe('before\n[private key removed]')
  })

  it('leaves ordinary text alone', () => {
    const texts = [
      ...[
        'The password is wrong.',
        'git commit -m "fix tokens"',
        'https://example.com:8080/path',
        'used 118600 tokens',
        'sk-short',
        'secret santa',
      ],
      ...['me@example.com', 'npm_config_cache', 'const apiKey = getKey()', 'src/hook/spool.ts:12:3', '会话 密码'],
    ]
    for (const text of texts) expect(redacted(text)).toBe(text)
  })

  it('removes e-mail addresses and own patterns when asked', () => {
    expect(redacted('to me.too+x@mail.example.com now', [E_MAIL])).toBe('to [e-mail removed] now')
    expect(redacted('ticket ACME-123 of ACME-9', ownPatterns(['ACME-\\d+']))).toBe('ticket [removed] of [removed]')
    expect(redacted('abc', ownPatterns(['x*']))).toBe('abc')
    expect(() => ownPatterns(['('])).toThrow()
  })

  it('takes time in proportion to the text', () => {
    const nasty = `${'a'.repeat(200_000)} ${'password'.repeat(20_000)} ${'://'.repeat(50_000)}${'@'.repeat(50_000)} ${'eyJ'.repeat(50_000)}`
    const began = performance.now()
    redacted(nasty, [...BUILT_IN, E_MAIL])
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})

describe('a transcript on its way out', () => {
  const through = (text: Buffer, size: number) => {
    const counts = new Map<string, number>()
    const lines = redactLines(BUILT_IN, counts)
    const out: Buffer[] = []
    for (let at = 0; at < text.length; at += size) out.push(lines.take(text.subarray(at, at + size)))
    return { out: Buffer.concat([...out, lines.end()]), counts }
  }
  const secret = JSON.stringify({ n: 1.5, list: [{ out: 'DB_PASSWORD=correct-horse' }], password: 'x', tokens: 7 })
  const plain = '{"a" : 1.0,  "b":"\\u00e9"}'
  const text = Buffer.concat([
    Buffer.from(`${plain}\n\n${secret}\nno json sk-ant-0123456789abcdef\n`),
    Buffer.from([0xff, 0xfe, 10]),
    Buffer.from(plain),
  ])

  it('keeps untouched lines as they are, byte for byte, and stays JSON, whatever pieces it comes in', () => {
    const whole = through(text, text.length)
    for (const size of [1, 7, 64]) expect(through(text, size).out.equals(whole.out)).toBe(true)
    const lines = whole.out.toString('latin1').split('\n')
    expect(lines).toHaveLength(6)
    expect([lines[0], lines[1], lines[4], lines[5]]).toEqual([plain, '', 'ÿþ', plain])
    expect(JSON.parse(lines[2]!)).toEqual({
      n: 1.5,
      list: [{ out: 'DB_PASSWORD=[secret removed]' }],
      password: '[secret removed]',
      tokens: 7,
    })
    expect(lines[3]).toBe('no json [key removed]')
    expect(Object.fromEntries(whole.counts)).toEqual({ secret: 2, key: 1 })
  })
})
