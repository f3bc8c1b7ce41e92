import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKeyIssues, makeKeymap } from '../../../src/core/keys/bindings.ts'
import { parseChord } from '../../../src/core/keys/chord.ts'
import { KEYMAP } from '../../../src/core/keys/keymap.ts'
import { findKeymapCommand, toChord, toKnownKey } from '../../../src/tui/text/key-command.ts'
import { parseKey, typed } from './keys.ts'

const preset = (keys: Readonly<Record<string, readonly string[]>>) => ({ keymap: 'default' as const, keys })

test('makeKeymap() of the default preset is the key table', () => {
  const { bindings } = makeKeymap(preset({}))
  assert.deepEqual(
    bindings.map(({ name, keys }) => [name, keys]),
    KEYMAP.map(({ name, keys }) => [name, keys]),
  )
})

test('makeKeymap() gives an action its own keys, and takes them from others', () => {
  const keymap = makeKeymap(preset({ redraw: ['Alt+X', 'ctrl+w'] }))
  assert.equal(findKeymapCommand(parseKey('alt+x'), keymap), 'redraw')
  assert.equal(findKeymapCommand(parseKey('ctrl+w'), keymap), 'redraw')
  assert.equal(findKeymapCommand(parseKey('ctrl+l'), keymap), undefined)
})

test('keys of the user work in the prompt', () => {
  const keymap = makeKeymap(preset({ submit: ['ctrl+s'], 'line-break': ['enter'] }))
  const { effects } = typed(['a', 'enter', 'b', 'ctrl+s'], { keymap })
  assert.deepEqual(effects, [{ type: 'submit', text: 'a\nb' }])
})

test('findKeyIssues() reports unknown names, keys that are not possible, and conflicts', () => {
  const keys = {
    submitt: ['ctrl+s'],
    redraw: ['hyper+x', 'x', 'ctrl+i', 'ctrl+foo', 'shift+a'],
    undo: ['alt+x'],
    redo: ['alt+x'],
    paste: ['ctrl+r'],
  }
  assert.deepEqual(
    findKeyIssues(preset(keys)).map(({ name, message, hint = '' }) => `${name}: ${message}; ${hint}`),
    [
      'submitt: unknown action "submitt"; did you mean "submit"?',
      'redraw: "hyper+x" is not a key: "hyper" is not ctrl, alt or shift; ',
      'redraw: "x" is not a key: it types text; add ctrl or alt; ',
      'redraw: "ctrl+i" is not a key: terminals send it as tab; ',
      'redraw: "ctrl+foo" is not a key: "foo" is not the name of a key; ',
      'redraw: "shift+a" is not a key: it types text; add ctrl or alt; ',
      'redo: "alt+x" is also the key of "undo"; the first one counts',
      'paste: "ctrl+r" was the only key of "search-history", which has none now; give it another: search-history = ["…"]',
    ],
  )
})

test('every chord of the key table and its presets is one that parseChord() accepts', () => {
  for (const name of ['default', 'vim', 'emacs'] as const) {
    const { bindings } = makeKeymap({ keymap: name, keys: {} })
    for (const { keys } of bindings) {
      for (const chord of keys) {
        assert.deepEqual(parseChord(chord), { ok: true, value: chord })
        assert.equal(toChord(parseKey(chord)), chord)
      }
    }
    assert.deepEqual(findKeyIssues({ keymap: name, keys: {} }), [])
  }
})

test('Ctrl+B of the emacs preset moves the caret, also during a turn', () => {
  const keymap = makeKeymap({ keymap: 'emacs', keys: {} })
  const { prompt, effects } = typed(['ab', 'ctrl+b'], { keymap, isBusy: true })
  assert.deepEqual([prompt.caret, effects], [1, []])
})

test('toKnownKey() makes Esc of the key of Emacs that cancels', () => {
  const emacs = makeKeymap({ keymap: 'emacs', keys: {} })
  assert.equal(toKnownKey(parseKey('ctrl+g'), emacs).name, 'escape')
  assert.equal(toKnownKey(parseKey('ctrl+g'), makeKeymap(preset({}))).text, 'g')
})

test('a word that arrives in one piece is text, even when it is the name of a key', () => {
  for (const text of ['up', 'right', 'home', 'enter', 'tab', 'escape', 'backspace', '😀']) {
    const key = { name: 'text', text, ctrl: false, alt: false, shift: false } as const
    assert.equal(findKeymapCommand(key), undefined, text)
  }
})
