import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { addItem, addProperty, removePart } from './json-edit.js'
import { type JsonArray, type JsonObject, JsonTextError, readJson, toValue } from './json-text.js'

const outcome = (read: () => unknown) => {
  try {
    return { value: read() }
  } catch {
    return 'refused'
  }
}

/** Yields random changes of a text from a fixed seed, so that every run tests the same texts. */
function* mutations(text: string, count: number): Generator<string> {
  let seed = 7
  const next = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % n
  }
  const pieces = [
    '"',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '\\',
    ' ',
    '\n',
    '0',
    '-',
    'e',
    '.',
    'null',
    '//',
    '\u0001',
    '\u00a0',
    '\\u12',
    'é',
  ]
  for (let i = 0; i < count; i++) {
    const at = next(text.length)
    yield next(2)
      ? text.slice(0, at) + text.slice(at + 1 + next(3))
      : text.slice(0, at) + pieces[next(pieces.length)] + text.slice(at)
  }
}

describe('reading', () => {
  test('the JSON reader accepts exactly the texts that JSON.parse accepts, with the same values', () => {
    const seedText = readFileSync(new URL('../install/fixtures/odd-keys.json', import.meta.url), 'utf8')
    const texts = [
      '',
      ' ',
      '0',
      '-',
      '01',
      '1.',
      '"',
      '[1 2]',
      '{"a" 1}',
      '[,]',
      '{,}',
      'nul',
      'undefined',
      '[1,]',
      '{"a":1,}',
      '"\\x"',
      'NaN',
      "'a'",
    ]
    for (const text of [...texts, ...mutations(seedText, 3000)]) {
      expect(
        outcome(() => toValue(readJson(text))),
        text,
      ).toEqual(outcome(() => JSON.parse(text)))
    }
  })

  test.each([
    ['{\n "a": 1, // x\n}', 2, 'comment'],
    ['{\n "a": 1\n /* x */ }', 3, 'comment'],
    ['{\n "a": [\n1,\n]}', 3, 'comma before ]'],
    ["{\n 'a': 1}", 2, 'double quotes'],
    ['{"a": 1,\n\n"b" 2}', 3, 'colon'],
    ['{"a":\n"x\ny"}', 2, 'no closing quote'],
    ['{"a": tru}', 1, '`tru`'],
    ['{"a": {', 1, 'too early'],
    ['{}\n{}', 2, 'after the end'],
  ])('the JSON reader reports the line and the reason for %j', (text, line, words) => {
    try {
      readJson(text)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(JsonTextError)
      expect(error).toMatchObject({ line })
      expect((error as JsonTextError).reason).toContain(words)
    }
  })

  test('the JSON reader refuses text nested 100,000 deep instead of overflowing the stack', () => {
    expect(() => readJson('['.repeat(100_000))).toThrow(JsonTextError)
  })
})

describe('changing', () => {
  const layouts = [
    '{"a":1}',
    '{ "a": 1 }',
    '{"a": 1}',
    '{\n  "a": 1\n}',
    '{\n\t"a": 1\n}\n',
    '{\r\n    "a": 1\r\n}\r\n',
    '{\n"a":1\n}',
    '\uFEFF{\n  "a": 1, "b": 2\n}',
    '{\n  "a": 1,\n\n  "b": 2\n\n}',
  ]

  test.each(layouts)('adding a property to %j and removing it again restores the text', (text) => {
    const added = addProperty(text, readJson(text) as JsonObject, 'new "key"', { x: [1, { y: 'line\nbreak' }] })
    const root = readJson(added) as JsonObject
    expect(toValue(root)).toEqual({
      ...(toValue(readJson(text)) as object),
      'new "key"': { x: [1, { y: 'line\nbreak' }] },
    })
    expect(removePart(added, root, root.parts.length - 1)).toBe(text)
  })

  test.each(['[]', '[1]', '[\n  1\n]', '[ 1, 2 ]'])(
    'adding an item to %j and removing it again restores the text',
    (text) => {
      const added = addItem(text, readJson(text) as JsonArray, { a: 1 })
      const root = readJson(added) as JsonArray
      expect(toValue(root)).toEqual([...(toValue(readJson(text)) as unknown[]), { a: 1 }])
      expect(removePart(added, root, root.parts.length - 1)).toBe(text)
    },
  )

  test.each([0, 1, 2])('removing part %i of three removes one comma and leaves the other lines unchanged', (index) => {
    const text = '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}'
    const left = removePart(text, readJson(text) as JsonObject, index)
    const others = ['  "a": 1', '  "b": 2', '  "c": 3'].filter((_, i) => i !== index)
    expect(left).toBe(`{\n${others.join(',\n')}\n}`)
  })

  test('an added property follows the line ends, indents and spaces of the file', () => {
    const tabs = '{\r\n\t"a": {\r\n\t\t"b": []\r\n\t}\r\n}'
    expect(addProperty(tabs, readJson(tabs) as JsonObject, 'c', { d: 1 })).toBe(
      '{\r\n\t"a": {\r\n\t\t"b": []\r\n\t},\r\n\t"c": {\r\n\t\t"d": 1\r\n\t}\r\n}',
    )
    expect(addProperty('{"a":1}', readJson('{"a":1}') as JsonObject, 'c', { d: [1, 2] })).toBe(
      '{"a":1,"c":{"d":[1,2]}}',
    )
    expect(addProperty('{ "a": 1 }', readJson('{ "a": 1 }') as JsonObject, 'c', { d: 1 })).toBe(
      '{ "a": 1, "c": { "d": 1 } }',
    )
  })
})
