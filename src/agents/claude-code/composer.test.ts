import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findPastedText, readComposer } from './composer.js'

const FOLDER = join(import.meta.dirname, 'fixtures', 'screens', '2.1.325')
const screen = (name: string): string => readFileSync(join(FOLDER, `${name}.txt`), 'utf8')
const LONG =
  '  indented third of many words so that it is longer than the whole width of the terminal and goes on and on and on'

describe('screens of client 2.1.325', () => {
  test.each([
    'idle-empty',
    'idle-after-turn',
    'busy',
    'after-refusal',
    'after-clear',
    'shortcuts',
    'plan-mode',
    'narrow-idle-empty',
  ])('the composer on screen %s is empty', (name) => {
    expect(readComposer(screen(name))).toEqual({ state: 'empty' })
  })

  test.each(['busy-queued', 'narrow-busy-queued'])('the placeholder on screen %s is not a draft', (name) => {
    expect(screen(name)).toMatch(/ress up to edit queued messages/)
    expect(readComposer(screen(name))).toEqual({ state: 'empty' })
  })

  test.each([
    ['draft-one-line', 'fix the login', 13],
    ['draft-many-lines', `fix the login\nand the logout\n\n${LONG}\nuntil it wraps`, 159],
    ['draft-space', ' ', 1],
    ['draft-glyph', '❯ odd  draft', 0],
    ['draft-pasted', '[Pasted text #1 +29 lines]', 26],
    ['busy-draft', 'meanwhile', 9],
    ['bash-mode', '!', 1],
    ['bash-mode-draft', '!ls', 3],
    ['unfocused-draft', 'x', 1],
    ['narrow-draft-pasted', '[Pasted text #1 +29 lines]', 26],
  ])('the composer on screen %s has a draft with its caret', (name, text, caret) => {
    expect(readComposer(screen(name))).toEqual({ state: 'draft', text, caret, menu: null })
  })

  test('a draft is read with its line wraps on a narrow screen', () => {
    const found = readComposer(screen('narrow-draft-many-lines'))
    expect(found).toMatchObject({
      state: 'draft',
      text: expect.stringMatching(/^fix the login\nand the logout\n\n {2}indented/),
    })
    expect(found).toMatchObject({ text: expect.stringMatching(/\non until it wraps$/) })
  })

  test('the open command menu shows which command Enter would select', () => {
    expect(readComposer(screen('slash-menu'))).toMatchObject({ state: 'draft', text: '/cl', caret: 3, menu: '/clear' })
    expect(readComposer(screen('slash-clear'))).toMatchObject({
      state: 'draft',
      text: '/clear',
      caret: 6,
      menu: '/clear',
    })
    expect(readComposer(screen('narrow-slash-menu'))).toMatchObject({ state: 'draft', text: '/cl', menu: '/clear' })
  })

  test.each([
    'permission',
    'model-dialog',
    'transcript-view',
    'history-search',
    'narrow-permission',
    'narrow-model-dialog',
  ])('the composer on screen %s cannot be read', (name) => {
    expect(readComposer(screen(name))).toMatchObject({ state: 'unknown' })
    expect(readComposer(screen(name), { x: 2, y: 37 })).toMatchObject({ state: 'unknown' })
  })

  test("without focus only the terminal's own cursor shows whether something was typed", () => {
    expect(readComposer(screen('unfocused'))).toMatchObject({ state: 'unknown' })
    expect(readComposer(screen('unfocused'), { x: 2, y: 37 })).toEqual({ state: 'empty' })
    expect(readComposer(screen('unfocused'), { x: 4, y: 37 })).toMatchObject({ state: 'draft', text: '  ' })
    expect(readComposer(screen('unfocused'), { x: 2, y: 30 })).toMatchObject({ state: 'unknown' })
    expect(readComposer(screen('unfocused'), { x: 0, y: 37 })).toMatchObject({ state: 'unknown' })
  })
})

describe('hand-made screens', () => {
  const rule = '─'.repeat(40)
  const draw = (...rows: string[]): string => [rule, ...rows, rule, '  hints', ''].join('\n')

  test('a placeholder is dim from its second letter on, and a draft of the same text is not', () => {
    expect(readComposer(draw('❯\u00a0\x1b[7mT\x1b[0;2mry "edit"\x1b[0m'))).toEqual({ state: 'empty' })
    expect(readComposer(draw('❯\u00a0\x1b[7mT\x1b[0mry "edit"'))).toMatchObject({ text: 'Try "edit"', caret: 0 })
    expect(readComposer(draw('❯\u00a0\x1b[7mT\x1b[0m'))).toMatchObject({ text: 'T', caret: 0 })
  })

  test('a completion by the client is not part of the draft', () => {
    expect(readComposer(draw('❯ /com\x1b[7mp\x1b[0m\x1b[2mact\x1b[0m'))).toMatchObject({ text: '/com', caret: 4 })
  })

  test('a colour is not read as dim', () => {
    expect(readComposer(draw('❯ \x1b[38;2;2;2;2mred\x1b[7m \x1b[0m'))).toMatchObject({ text: 'red' })
    expect(readComposer(draw('❯ \x1b[38:2::2:2:2mred\x1b[7m \x1b[0m'))).toMatchObject({ text: 'red' })
  })

  test('an empty second line counts as typed', () => {
    expect(readComposer(draw('❯ ', '  \x1b[7m \x1b[0m'))).toMatchObject({ state: 'draft', text: '\n', caret: 1 })
  })

  test('a name in the rule and links in the hints do not hide the composer', () => {
    const named = [
      `${'─'.repeat(20)} my session ──`,
      '❯ \x1b[7m \x1b[0m',
      rule,
      '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\',
    ].join('\n')
    expect(readComposer(named)).toEqual({ state: 'empty' })
  })

  test('the lowest composer counts, and a shell prompt is none', () => {
    expect(readComposer(draw('❯ old') + draw('❯ new\x1b[7m \x1b[0m'))).toMatchObject({ text: 'new' })
    expect(readComposer('$ ls\n❯ \x1b[7m \x1b[0m\n')).toMatchObject({ state: 'unknown' })
    expect(readComposer('')).toMatchObject({ state: 'unknown' })
    expect(readComposer(draw('  1. Yes', '❯ 2. No'))).toMatchObject({ state: 'unknown' })
  })
})

describe('finding a pasted text in a draft', () => {
  test('a long paste is shown as one word, which one key deletes', () => {
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')
    expect(findPastedText('[Pasted text #3 +29 lines]', text)).toEqual({ before: '', after: '', keys: 1 })
    expect(findPastedText('a[Pasted text #3 +29 lines]b', text)).toEqual({ before: 'a', after: 'b', keys: 1 })
    expect(findPastedText('[Pasted text #3 +12 lines]', text)).toBeNull()
  })

  test('a short paste is found with its line wraps, and between text of the user', () => {
    expect(findPastedText('[baton] go\non', '[baton] go on')).toEqual({ before: '', after: '', keys: 13 })
    expect(findPastedText('x/clear', '/clear')).toEqual({ before: 'x', after: '', keys: 6 })
    expect(findPastedText('/clearx', '/clear')).toEqual({ before: '', after: 'x', keys: 6 })
    expect(findPastedText('/clear/clear', '/clear')).toBeNull()
    expect(findPastedText('/clea', '/clear')).toBeNull()
    expect(findPastedText('', '/clear')).toBeNull()
  })

  describe('in a low pane that shows only its last rows', () => {
    const text =
      '[baton] Continue the work from brief 1 (its file: /home/me/briefs/0001-brief_d0f37b54.md). Begin with its ' +
      'next exact step.'
    const keys = text.length

    test('a paste in a low pane is recognised by its end', () => {
      expect(findPastedText('/briefs/0001-brief_d0f37b54.md).\nBegin with its next exact\nstep.', text)).toEqual({
        before: '',
        after: '',
        keys,
      })
    })

    test('a paste in a low pane is recognised with text of the user after it', () => {
      expect(findPastedText('Begin with its next exact\nstep. and', text)).toEqual({ before: '', after: ' and', keys })
      expect(findPastedText('Begin with its next exact\nstep.\nand', text)).toBeNull()
    })

    test('a paste in a low pane is not recognised when a row differs or too little is visible', () => {
      expect(findPastedText('Do not begin\nwith its next exact\nstep.', text)).toBeNull()
      expect(findPastedText('next exact\nstep.', text)).toBeNull()
      expect(findPastedText('Begin with its next exact step.', text)).toBeNull()
      expect(findPastedText(`x${text.slice(0, 60)}\n${text.slice(60)}`, text)).toBeNull()
      expect(findPastedText(`Begin with its next exact step.\nBegin with its next exact step.`, text)).toBeNull()
    })
  })
})
