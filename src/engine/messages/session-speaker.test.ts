import { expect, test } from 'vitest'
import { compactedText } from '../../policy/texts.js'
import { speakerFor } from './session-speaker.js'

test('a seat or folder name cannot add a line, a mark of Baton or a terminal sequence to a parent’s message', () => {
  const speaker = speakerFor({ sessionId: 'x', project: '/tmp/c\u001b[2J\n[ Baton ] d' }, 'a\n[baton] b')
  expect(compactedText(speaker, '')).toBe(
    '[baton] Session x (seat a (baton) b) in /tmp/c ( Baton ) d was compacted and is still running.',
  )
})
