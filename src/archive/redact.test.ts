import { describe, expect, test } from 'vitest'
import type { RedactionPattern } from './named-secrets.js'
import { BUILT_IN_PATTERNS, configuredPatterns, E_MAIL, redactLines, redactText } from './redact.js'

const redacted = (text: string, patterns: readonly RedactionPattern[] = BUILT_IN_PATTERNS): string =>
  redactText(text, patterns, new Map())

describe('redacting secrets', () => {
  test.each([
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
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG', 'AWS_SECRET_ACCESS_KEY=[secret removed]'],
    ['export AWS_SECRET_ACCESS_KEY="wJalr XUtn"', 'export AWS_SECRET_ACCESS_KEY="[secret removed]"'],
    [
      'aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG',
      'aws configure set aws_secret_access_key [secret removed]',
    ],
    ['TOKEN=abcdefgh', 'TOKEN=[secret removed]'],
    ['GITLAB_TOKEN=a1b2 make', 'GITLAB_TOKEN=[secret removed] make'],
    ['{"token": "abc"}', '{"token": "[secret removed]"}'],
    ['{\\"token\\": \\"abc def\\"}', '{\\"token\\": \\"[secret removed]\\"}'],
    ['token: a1b2c3d4', 'token: [secret removed]'],
    ["const token = 'a1b2c3d4'", "const token = '[secret removed]'"],
    ['GET /x?token=abcdef&page=2', 'GET /x?token=[secret removed]&page=2'],
    ['gh login --token abcdef12 --yes', 'gh login --token [secret removed] --yes'],
    ['x --access-token="a b" y', 'x --access-token="[secret removed]" y'],
    ['x --db-password hunter2', 'x --db-password [secret removed]'],
    ['curl -u admin:hunter2 https://example.com', 'curl -u admin:[password removed] https://example.com'],
    [
      "curl -s \\\n  --user 'admin:hun ter2' https://example.com",
      "curl -s \\\n  --user 'admin:[password removed]' https://example.com",
    ],
    ['mysql -u root -phunter2 shop', 'mysql -u root -p[password removed] shop'],
    ["mysqldump -p'hun ter2' shop", "mysqldump -p'[password removed]' shop"],
    ['sshpass -p hunter2 ssh me@host', 'sshpass -p [password removed] ssh me@host'],
    ['Cookie: sid=abc; theme=dark', 'Cookie: [cookie removed]'],
    ['< set-cookie: sid=abc; Path=/\n< x: y', '< set-cookie: [cookie removed]\n< x: y'],
    ["curl -H 'Cookie: sid=abc' -b 'sid=def' x", "curl -H 'Cookie: [cookie removed]' -b '[cookie removed]' x"],
    ['"Set-Cookie": ["sid=abc; Path=/", "b=c"]', '"Set-Cookie": ["[cookie removed]"]'],
    ['Authorization: Basic dTpw', 'Authorization: Basic [token removed]'],
    ["-H 'Authorization: Basic dXNlcjpwYXNz'", "-H 'Authorization: Basic [token removed]'"],
    ['{\\"Authorization\\": \\"Basic dXNlcjpwYXNz\\"}', '{\\"Authorization\\": \\"Basic [token removed]\\"}'],
    ['Authorization: 0123456789abcdef0', 'Authorization: [token removed]'],
    ['password="correct horse battery"', 'password="[secret removed]"'],
    ['password: "it\'s a \\"secret\\" one" # x', 'password: "[secret removed]" # x'],
    ["password: 'x'", "password: '[secret removed]'"],
    ['password=(hunter22)', 'password=([secret removed])'],
    ['passwords: ["one", "two ]"]', 'passwords: ["[secret removed]"]'],
    ['api_key=<abcdef123>', 'api_key=<[secret removed]>'],
    ['password=p@ss(w0rd)! next', 'password=[secret removed] next'],
    ['<password>hunter2</password>', '<password>[secret removed]</password>'],
    ['Server=db;Uid=sa;Pwd=hunter2;', 'Server=db;Uid=sa;Pwd=[secret removed];'],
    ['machine x login me password hunter2', 'machine x login me password [password removed]'],
  ])('redaction turns %s into %s', (text, expected) => expect(redacted(text)).toBe(expected))

  test('redaction removes a private key of several lines, also a truncated one', () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----'
    expect(redacted(`before\n${key}\nafter`)).toBe('before\n[private key removed]\nafter')
    expect(redacted(`before\n${key.slice(0, 50)}`)).toBe('before\n[private key removed]')
  })

  test('redaction leaves ordinary text alone', () => {
    const texts = [
      'The password is wrong.',
      'git commit -m "fix tokens"',
      'https://example.com:8080/path',
      'used 118600 tokens',
      'sk-short',
      'secret santa',
      'const token = lexer.next()',
      'Unexpected token: else',
      'token = tokens[0]',
      'max_tokens: 4096',
      'MAX_TOKEN=4096',
      'token: string',
      'password: string',
      'the --token flag is needed',
      `x --token $TOKEN --password "\${PASSWORD}"`,
      'Authorization: Bearer $TOKEN',
      'Authorization: basic auth is used',
      'TOKEN=$(cat token.txt)',
      `api_key: \${{ secrets.KEY }}`,
      'const apiKey = process.env.API_KEY',
      'docker run -u 1000:1000 -p8080:80 -b x',
      'git push -u origin main:main',
      'mysql -p shop',
      'mkdir -pv a; mysql --version',
      'Cookie: a small cake',
      'PWD=/home/me/code',
      'The password is hunter2',
      'password: [secret removed]',
      'secret: { name: "x", from: "y" }',
      'token=""',
      'me@example.com',
      'npm_config_cache',
      'const apiKey = getKey()',
      'src/delivery/spool.ts:12:3',
      '会话 密码',
    ]
    for (const text of texts) expect(redacted(text)).toBe(text)
  })

  test('redaction removes e-mail addresses and configured patterns on request', () => {
    expect(redacted('to me.too+x@mail.example.com now', [E_MAIL])).toBe('to [e-mail removed] now')
    expect(redacted('ticket ACME-123 of ACME-9', configuredPatterns(['ACME-\\d+']))).toBe(
      'ticket [removed] of [removed]',
    )
    expect(redacted('abc', configuredPatterns(['x*']))).toBe('abc')
    expect(() => configuredPatterns(['('])).toThrow()
  })
})

describe('redacting a transcript', () => {
  const through = (text: Buffer, size: number) => {
    const counts = new Map<string, number>()
    const lines = redactLines(BUILT_IN_PATTERNS, counts)
    const out: Buffer[] = []
    for (let at = 0; at < text.length; at += size) out.push(lines.take(text.subarray(at, at + size)))
    return { out: Buffer.concat([...out, lines.end()]), counts }
  }
  const more = { token: 'x', sessionToken: 'y', 'set-cookie': ['a=b'], command: `curl -u me:"x\\" \n` }
  const secret = JSON.stringify({
    n: 1.5,
    list: [{ out: 'DB_PASSWORD=correct-horse' }],
    password: 'x',
    tokens: 7,
    ...more,
  })
  const plain = '{"a" : 1.0,  "b":"\\u00e9"}'
  const text = Buffer.concat([
    Buffer.from(`${plain}\n\n${secret}\nno json sk-ant-0123456789abcdef\n`),
    Buffer.from([0xff, 0xfe, 10]),
    Buffer.from(plain),
  ])

  test('redaction keeps lines without secrets byte for byte and stays valid JSON, whatever the chunk size', () => {
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
      token: '[secret removed]',
      sessionToken: '[secret removed]',
      'set-cookie': ['[secret removed]'],
      command: 'curl -u me:"x\\" \n',
    })
    expect(lines[3]).toBe('no json [key removed]')
    expect(Object.fromEntries(whole.counts)).toEqual({ secret: 5, key: 1 })
  })
})
