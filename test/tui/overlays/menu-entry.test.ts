import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry } from '../../../src/tui/overlays/entry.ts'
import { findKeysForPrompt, newMenu } from '../../../src/tui/overlays/menu.ts'
import { pressOverlay, renderOverlay } from '../../../src/tui/overlays/overlay.ts'
import { newPage } from '../../../src/tui/overlays/page.ts'
import { newPicker } from '../../../src/tui/overlays/picker.ts'
import type { Overlay } from '../../../src/tui/overlays/types.ts'
import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import { key } from '../cards/card-fixtures.ts'

const LEVELS = newPicker({
  picker: 'model',
  title: 'Model',
  items: [
    { value: 'a', label: 'thinker', detail: '', levels: ['low', 'high'] },
    { value: 'b', label: 'talker', detail: '' },
  ],
  targets: { names: ['this conversation', 'this agent', 'always'], selected: 0 },
  level: '',
})

test('a picker with targets and levels shows both, and returns them with the choice', () => {
  assert.deepEqual(lines(LEVELS, 80, 24), [
    `Model: ${' '.repeat(72)}2`,
    '› thinker',
    '  talker',
    '  For     [this conversation]  this agent  always  Tab',
    '  Effort  [default]  low  high  ← →',
    'Enter chooses · ↑ ↓ · type to narrow · Esc closes',
  ])
  assert.deepEqual(lines(LEVELS, 40, 24).slice(3, 5), [
    '  For     [this conversation]  Tab',
    '  Effort  [default]  low  high  ← →',
  ])
  const { overlay, effects } = press(LEVELS, 'tab', 'right', 'right', 'right', 'left', 'enter')
  assert.equal(overlay, undefined)
  const chosen = { type: 'chosen', picker: 'model', value: 'a', target: 'this agent', level: 'low' }
  assert.deepEqual(effects, [chosen])
  const other = press(LEVELS, 'right', 'down', 'shift+tab', 'enter').effects
  const { level: _, ...unset } = chosen
  assert.deepEqual(other, [{ ...unset, value: 'b', target: 'always' }])
  const stored = { ...LEVELS, level: 'high' }
  assert.deepEqual(press(stored, 'tab', 'enter').effects, [unset])
  assert.deepEqual(press(stored, 'right', 'tab', 'enter').effects, [{ ...chosen, level: 'high' }])
  assert.match(lines(stored, 80, 24)[4]!, /default {2}low {2}\[high\]/)
  assert.match(lines(press(stored, 'tab').overlay!, 80, 24)[4]!, /\[as it is\] {2}default {2}low {2}high/)
})

const PROVIDERS = newMenu({
  picker: 'connect',
  subject: 'x',
  title: 'Connect',
  items: [
    { value: 'one', label: 'One', detail: 'paste a key' },
    { value: 'two', label: 'Number two', detail: '' },
  ],
})

test('a menu selects by digits and arrows, chooses with Enter, and then waits', () => {
  assert.deepEqual(lines(PROVIDERS, 80, 24), [
    'Connect',
    '› 1  One         paste a key',
    '  2  Number two',
    '↑ ↓ or a digit, then Enter · Esc closes',
  ])
  const { overlay, effects } = press(PROVIDERS, '9', 'x', '2', 'enter', 'enter', '1')
  assert.deepEqual(effects, [{ type: 'chosen', picker: 'connect', value: 'two', key: 'x' }])
  assert.ok(overlay?.kind === 'menu' && overlay.isBusy && overlay.selected === 1)
  assert.equal(lines(overlay, 80, 24).at(-1), 'One moment… · Esc cancels')
  assert.equal(press(overlay, 'escape').overlay, undefined)
})

test('only a menu that the user did not ask for gives text to the prompt, with the digits before it', () => {
  const offer = { ...PROVIDERS, yieldsToText: true }
  const { overlay } = press(offer, '2')
  const texts = (keys: readonly string[]) =>
    findKeysForPrompt(overlay!, keys.map(key))?.map(({ text }) => text)
  assert.deepEqual(texts([' ', 'w']), ['2', ' ', 'w'])
  assert.equal(texts(['1']), undefined)
  assert.equal(texts(['enter']), undefined)
  assert.equal(findKeysForPrompt(PROVIDERS, [key('w')]), undefined)
})

const SECRET = newEntry({
  picker: 'connect-key',
  subject: 'one',
  title: 'Key',
  isSecret: true,
  help: 'Advice.',
})

test('an entry shows a secret as dots, takes a paste, and forgets the secret when it is submitted', () => {
  const { overlay } = press(SECRET, 'type:sk-', 'paste:secret\n', 'x', 'backspace')
  assert.deepEqual(lines(overlay!, 80, 24).slice(0, 2), ['Key: •••••••••', '  Advice.'])
  assert.deepEqual(lines(overlay!, 10, 24)[0], 'Key: ••••')
  const { overlay: after, effects } = press(overlay!, 'enter', 'x')
  assert.deepEqual(effects, [{ type: 'chosen', picker: 'connect-key', value: 'sk-secret', key: 'one' }])
  assert.ok(after?.kind === 'entry' && after.isBusy && after.text === '')
  assert.deepEqual(press(SECRET, 'enter').effects, [])
  assert.equal(press({ ...SECRET, allowsEmpty: true }, 'enter').effects.length, 1)
  assert.equal(press({ ...SECRET, back: PROVIDERS }, 'escape').overlay, PROVIDERS)
})

function press(overlay: Overlay, ...keys: string[]): { overlay: Overlay | undefined; effects: ChatEffect[] } {
  const effects: ChatEffect[] = []
  let state: Overlay | undefined = overlay
  for (const one of keys) {
    if (!state) break
    const pressed = pressOverlay(state, key(one), { columns: 80, rows: 24 })
    state = pressed.state
    effects.push(...pressed.effects)
  }
  return { overlay: state, effects }
}

function lines(overlay: Overlay, columns: number, rows: number): readonly string[] {
  return renderOverlay(overlay, { columns, rows, color: false, details: false }).lines
}

test('text typed over a page that has no keys of its own goes to the composer', () => {
  const page = newPage('Usage', 'some rows')
  const taken = (...keys: string[]) => findKeysForPrompt(page, keys.map(key))?.map(({ text }) => text)
  assert.deepEqual(taken('h'), ['h'])
  assert.deepEqual(taken('q', 'u'), ['q', 'u'])
  assert.deepEqual(taken('paste:some log'), ['some log'])
  for (const own of ['q', ' ', 'down', 'page-down', 'enter', 'ctrl+l'])
    assert.equal(taken(own), undefined, own)
  const action = { picker: 'cron', value: '', keys: [{ key: 'x', label: 'remove' }] }
  assert.equal(findKeysForPrompt({ ...page, action }, [key('h')]), undefined)
})
