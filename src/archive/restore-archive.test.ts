import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BatonError, EXIT } from '../lib/errors.js'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { restoreArchive } from './restore-archive.js'

function keepTranscript() {
  const fixture = createArchiveHome()
  const text = jsonLine({ by: 'user', text: 'hello' })
  fixture.write('s1', text)
  const part = fixture.keep('s1').parts[0]!
  const folder = join(fixture.dir, 'out')
  mkdirSync(folder)
  const restore = (to: string): BatonError | null => {
    try {
      restoreArchive(fixture.archives.blocks, {
        part,
        segments: fixture.archives.segments(part.streamId),
        to,
        force: false,
      })
      return null
    } catch (error) {
      expect(error).toBeInstanceOf(BatonError)
      return error as BatonError
    }
  }
  return { folder, restore, text }
}

describe('restoring an archive', () => {
  test('restore accepts a file name of maximum length, and reports one that is too long', () => {
    const { folder, restore, text } = keepTranscript()
    const longest = join(folder, 'x'.repeat(255))
    expect(restore(longest)).toBeNull()
    expect(readFileSync(longest, 'utf8')).toBe(text)
    expect(restore(join(folder, 'x'.repeat(256)))).toMatchObject({
      message: expect.stringContaining('too long'),
      exit: EXIT.usage,
    })
    expect(readdirSync(folder)).toHaveLength(1)
  })

  test('restore reports what is wrong with its target and leaves nothing there', () => {
    const { folder, restore } = keepTranscript()
    const file = join(folder, 'file')
    writeFileSync(file, 'mine')
    expect(restore(join(file, 'x'))).toMatchObject({
      message: expect.stringContaining(`${file} is not a folder`),
      exit: EXIT.usage,
    })
    expect(restore(join(folder, 'none', 'x'))).toMatchObject({
      message: expect.stringContaining('does not exist'),
      exit: EXIT.notFound,
    })
    expect(restore(folder)).toMatchObject({ message: `${folder} is a folder.`, exit: EXIT.usage })
    expect(restore(file)).toMatchObject({ exit: EXIT.refused })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test.runIf(process.platform === 'linux')(
    'a folder that exists but accepts no files is not reported as missing',
    () => {
      const { restore } = keepTranscript()
      expect(restore('/proc/restored')).toMatchObject({
        message: expect.stringContaining('Cannot write /proc/restored'),
      })
    },
  )
})
