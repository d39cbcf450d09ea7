import { expect, test } from 'vitest'
import { parseYaml } from '../lib/yaml-file.js'
import { checkText } from './check-settings.js'
import { PRESET_NAMES } from './compiled.js'
import { CONFIG_TEMPLATE } from './config-template.js'
import { configSchema } from './schema.js'

/** The template with every key in force. */
const uncommented = CONFIG_TEMPLATE.replace(/^#(?! )/gm, '').replace(/^#( {2,}\S)/gm, '$1')

test('the configuration template is valid as it is and with every key in force', () => {
  expect(checkText('config.yaml', CONFIG_TEMPLATE)).toEqual([])
  expect(checkText('config.yaml', uncommented)).toEqual([])
})

test('the configuration template shows the twelve keys that users need first', () => {
  const keys = Object.keys(parseYaml('config.yaml', uncommented).value as object)
  expect(Object.keys(configSchema.pipe[1].entries)).toEqual(expect.arrayContaining(keys))
  expect(keys).toHaveLength(12)
})

test('the configuration template names every preset', () => {
  const [named] = /^# Ready-made levels:[\s\S]*?\n#presets/m.exec(CONFIG_TEMPLATE)!
  for (const preset of PRESET_NAMES) expect(named).toContain(preset)
})
