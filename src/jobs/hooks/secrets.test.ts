import { expect, test } from 'vitest'
import { makeRedactor } from './run-hooks.js'

test('redaction removes filled-in values and values with secret names, in every encoding', () => {
  const redact = makeRedactor({ SLACK_BOT_TOKEN: 'xoxb-42-42', MY_PASSWORD: 'p@ss words' }, ['used'])
  const text = `xoxb-42-42 ${encodeURIComponent('p@ss words')} ${Buffer.from('xoxb-42-42').toString('base64')} used`
  expect(redact(text)).toBe('[secret] [secret] [secret] [secret]')
})

test('redaction keeps numbers, short words and token counts, whatever their variable is called', () => {
  const env = {
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: 'thirty-two-thousand',
    MAX_THINKING_TOKEN: '31999000',
    AUTH_TOKEN: 'none',
    API_KEY: 'default',
  }
  const text = 'thirty-two-thousand 31999000 none default'
  expect(makeRedactor(env, [])(text)).toBe(text)
})
