import { expect, test } from 'vitest'
import { parseYamlValue, setYamlValue } from './yaml-file.js'

const TEXT = `# mine
presets: [ default,  tens ]   # two

handoff:
    mode: "auto"  # how
    # nothing below
levels:
  - name: early # first
    at: 60k
notify:
`

test('replacing a scalar by a scalar in YAML changes no other character', () => {
  expect(setYamlValue(TEXT, ['handoff', 'mode'], 'ask')).toBe(TEXT.replace('"auto"', 'ask'))
  expect(setYamlValue(TEXT, ['levels', 0, 'at'], '70% of window')).toBe(TEXT.replace('60k', '70% of window'))
  expect(setYamlValue(TEXT, ['handoff', 'mode'], 'a: b # c')).toBe(TEXT.replace('"auto"', '"a: b # c"'))
})

test('adding keys and lists to YAML keeps all comments and the order', () => {
  for (const [path, value] of [
    [['guards', 'breaker_after'], 4],
    [['presets'], ['quiet']],
    [['handoff', 'bar'], 0.5],
    [['notify'], ['bell']],
    [['notify', 'x'], 1],
  ] as const) {
    const after = setYamlValue(TEXT, path, value)
    for (const comment of ['# mine', '# two', '# how', '# nothing below', '# first']) expect(after).toContain(comment)
    const keys = [...after.matchAll(/^(\w+):/gm)].map(([, key]) => key)
    expect(keys.slice(0, 4)).toEqual(['presets', 'handoff', 'levels', 'notify'])
    const read = parseYamlValue(after) as Record<string, unknown>
    expect(path.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], read)).toEqual(value)
  }
})

test('a YAML file that is empty or has only comments accepts its first key', () => {
  expect(setYamlValue('# mine\n#enabled: true\n', ['enabled'], false)).toBe(
    '# mine\n#enabled: true\n\nenabled: false\n',
  )
  expect(setYamlValue('', ['handoff', 'mode'], 'ask')).toBe('handoff:\n  mode: ask\n')
})

test('a YAML key below a text is refused', () => {
  expect(() => setYamlValue(TEXT, ['handoff', 'mode', 'x'], 1)).toThrow('mode is not a map')
})
