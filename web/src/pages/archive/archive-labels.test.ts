import { expect, test } from 'vitest'
import { ARCHIVE_TRIGGERS } from '../../../../src/contract/records/archive.js'
import { archiveTriggerText } from '../../../../src/policy/archive-trigger-text.js'
import { TRIGGER_TEXTS } from './archive-labels.js'

test('the page names every trigger of an archive in the words of the command line', () => {
  expect(TRIGGER_TEXTS).toEqual(
    Object.fromEntries(ARCHIVE_TRIGGERS.map((trigger) => [trigger, archiveTriggerText(trigger)])),
  )
})
