import type { BaseIssue } from 'valibot'

/** What is wrong with an input, in a few words that name the key: `limit: must be a whole number`. */
export function firstIssue(issues: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]]): string {
  const [issue] = issues
  // A union has tried all of its forms: what is wrong with the one that came nearest says more than that none fitted.
  const near = issue.type === 'union' ? issue.issues?.find(({ path }) => path !== undefined) : undefined
  const { type, received, expected, path, message } = near ?? issue
  const name = path?.map(({ key }) => String(key)).join('.') ?? ''
  const key = name === '' ? 'the body' : name
  if (expected === 'never') return `${key}: not known here`
  if (received === 'undefined') return `${key}: missing`
  if (type === 'picklist') return `${key}: must be one of ${expected}`
  return `${key}: ${KINDS.has(type) ? `must be ${KINDS.get(type)}` : said(message)}`
}

const KINDS = new Map<string, string>([
  ['string', 'a text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['strict_object', 'an object'],
  ['min_length', 'something, not nothing'],
])

/** Valibot's own sentences begin with what is invalid: `Invalid length: Expected <=5 but received 7`. */
const said = (message: string): string => message.replace(/^Invalid \w+: Expected /, 'must be ').replace(/ but received .*$/s, '')
