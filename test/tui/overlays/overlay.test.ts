import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { newEntry } from '../../../src/tui/overlays/entry.ts'
import { newMenu } from '../../../src/tui/overlays/menu.ts'
import { pressOverlay, renderOverlay } from '../../../src/tui/overlays/overlay.ts'
import { newPage } from '../../../src/tui/overlays/page.ts'
import { newPicker } from '../../../src/tui/overlays/picker.ts'
import { newSearch, withResults } from '../../../src/tui/overlays/search.ts'
import type { Overlay, PageOverlay, Panel, Picker } from '../../../src/tui/overlays/types.ts'
import { SEARCH_SCOPES } from '../../../src/tui/search/types.ts'
import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { key } from '../cards/card-fixtures.ts'
import { findUnprintable, hostileText } from '../hostile-text.ts'

const MODELS = newPicker({
  picker: 'model',
  title: 'Model',
  items: [
    { value: 'a', label: 'claude-big', detail: 'anthropic · 200k context' },
    { value: 'b', label: 'gpt-small', detail: 'openai', isCurrent: true },
    { value: 'c', label: 'claude-small', detail: 'anthropic' },
  ],
})

const SERVERS: Panel = {
  kind: 'panel',
  picker: 'mcp',
  title: 'MCP servers',
  header: ['SERVER', 'STATE', 'OWNERS', 'TARGET'],
  rows: [
    { value: 'crab\none', cells: ['one', 'connected', '3 agents', 'npx one'], problem: '' },
    { value: 'crab\ntwo', cells: ['two', 'failed', 'crab', 'npx two'], problem: 'it ended with code 1' },
  ],
  selected: 0,
  keys: [
    { key: 't', label: 'tools' },
    { key: 'r', label: 'restart' },
  ],
  note: '',
}

test('a picker opens at the current value, marks it, and shows details next to the labels', () => {
  assert.deepEqual(lines(MODELS, 80, 24), [
    `Model: ${' '.repeat(72)}3`,
    '  claude-big     anthropic · 200k context',
    '› gpt-small    ✓ openai',
    '  claude-small   anthropic',
    'Enter chooses · ↑ ↓ · type to narrow · Esc closes',
  ])
})

test('a narrow terminal shows labels only', () => {
  assert.deepEqual(lines(MODELS, 40, 24).slice(1, 4), ['  claude-big', '› gpt-small ✓', '  claude-small'])
})

test('typing filters a picker by every word, in labels and details, and Enter chooses', () => {
  const { overlay } = press(MODELS, 'type:ANTHR', ' ', 's', 'm')
  assert.deepEqual(lines(overlay!, 80, 24).slice(1, -1), ['› claude-small   anthropic'])
  assert.match(lines(overlay!, 80, 24)[0]!, /^Model: ANTHR sm +1 of 3$/)
  const { overlay: closed, effects } = press(overlay!, 'enter')
  assert.equal(closed, undefined)
  assert.deepEqual(effects, [{ type: 'chosen', picker: 'model', value: 'c' }])
})

test('a picker deletes filter text, and chooses nothing when nothing matches', () => {
  const none = press(MODELS, 'type:zzz')
  assert.deepEqual(lines(none.overlay!, 80, 24).slice(1, -1), ['  no match'])
  assert.deepEqual(press(none.overlay!, 'enter').effects, [])
  assert.equal((press(none.overlay!, 'backspace').overlay as Picker).filter, 'zz')
  assert.equal((press(none.overlay!, 'ctrl+u').overlay as Picker).filter, '')
})

test('filter matches are highlighted', () => {
  const { overlay } = press(MODELS, 'type:small')
  const painted = renderOverlay(overlay!, { columns: 80, rows: 24, color: true, details: false }).lines
  assert.ok(painted[2]!.includes('claude-\u001b[4m\u001b[1msmall\u001b[22m\u001b[24m'))
})

test('the arrows wrap around in a list, pages stop at its ends', () => {
  const selected = (...keys: string[]) => (press(MODELS, ...keys).overlay as Picker).selected
  assert.deepEqual(
    [
      selected('down'),
      selected('down', 'down'),
      selected('up', 'up'),
      selected('page-down'),
      selected('home'),
    ],
    [2, 0, 2, 2, 0],
  )
})

test('a long list is shown around the selected row', () => {
  const items = Array.from({ length: 5_000 }, (_, at) => ({
    value: `${at}`,
    label: `item ${at}`,
    detail: '',
  }))
  const { overlay } = press(newPicker({ picker: 'x', title: 'Items', items }), 'end', 'up')
  const shown = lines(overlay!, 80, 24)
  assert.equal(shown.length, 18)
  assert.equal(shown.at(-2), '  item 4999')
  assert.ok(shown.includes('› item 4998'))
})

for (const name of ['escape', 'ctrl+c', 'ctrl+d']) {
  test(`${name} closes every overlay`, () => {
    for (const overlay of [MODELS, SERVERS, newPage('Help', 'text')]) {
      assert.deepEqual(press(overlay, name), { overlay: undefined, effects: [] })
    }
  })
}

test('a panel shows a row for each item, and what is wrong with the selected one', () => {
  assert.deepEqual(lines(SERVERS, 80, 24), [
    'MCP servers',
    '  SERVER  STATE      OWNERS    TARGET',
    '› one     connected  3 agents  npx one',
    '  two     failed     crab      npx two',
    '',
    't tools · r restart · Esc closes',
  ])
  assert.equal(lines(press(SERVERS, 'down').overlay!, 80, 24)[4], '  it ended with code 1')
  assert.equal(lines({ ...SERVERS, note: 'restarted one' }, 80, 24)[4], '  restarted one')
})

test('a panel omits the columns on the right where there is no room', () => {
  assert.deepEqual(lines(SERVERS, 26, 24).slice(1, 3), [
    '  SERVER  STATE      OWNE…',
    '› one     connected  3 ag…',
  ])
})

test('the keys of a panel request their action on the selected row, and keep it open', () => {
  const { overlay, effects } = press(SERVERS, 'down', 'r', 'x', 'enter')
  assert.equal(overlay?.kind, 'panel')
  assert.deepEqual(effects, [
    { type: 'chosen', picker: 'mcp', value: 'crab\ntwo', key: 'r' },
    { type: 'chosen', picker: 'mcp', value: 'crab\ntwo', key: 't' },
  ])
})

test('a key with confirmation acts only when it is pressed twice on one row', () => {
  const panel: Panel = {
    ...SERVERS,
    keys: [...SERVERS.keys, { key: 'd', label: 'disable', confirm: 'disable it' }],
  }
  const once = press(panel, 'd')
  assert.deepEqual(once.effects, [])
  assert.equal(lines(once.overlay!, 80, 24).at(-1), 'd again to disable it · any other key cancels')
  const effect = { type: 'chosen', picker: 'mcp', value: 'crab\none', key: 'd' }
  const twice = press(panel, 'd', 'd')
  assert.deepEqual(twice.effects, [effect])
  assert.match(lines(twice.overlay!, 80, 24).at(-1)!, /d disable/)
  assert.deepEqual(press(panel, 'd', 'down', 'd').effects, [])
  assert.deepEqual(press(panel, 'd', 'x', 'd').effects, [])
  assert.deepEqual(press(panel, 'd', 'd', 'd').effects, [effect])
})

test('a long page is laid out once for a width', () => {
  let reads = 0
  const page = Object.defineProperty(newPage('Log', ''), 'text', {
    get: () => {
      reads += 1
      return 'line\n'.repeat(1_000)
    },
  })
  for (let time = 0; time < 3; time++) lines(page, 80, 24)
  lines(page, 40, 24)
  pressOverlay(page, key('x'), { columns: 80, rows: 24 })
  assert.equal(reads, 2)
})

test('a page scrolls, shows its position, and returns to the overlay that opened it', () => {
  const text = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')
  const page = newPage('Log', text, SERVERS)
  const first = lines(page, 80, 24)
  assert.equal(first.length, 18)
  assert.deepEqual(first.slice(0, 2), ['Log', 'line 0'])
  assert.equal(first.at(-1), '1–16 of 30 · ↑ ↓ PgUp PgDn · Esc goes back')
  assert.equal(
    lines(press(page, 'page-down').overlay!, 80, 24).at(-1),
    '15–30 of 30 · ↑ ↓ PgUp PgDn · Esc goes back',
  )
  assert.equal(lines(press(page, 'down', 'down', 'up').overlay!, 80, 24)[1], 'line 1')
  assert.equal(press(page, 'escape').overlay, SERVERS)
})

test('a line of two columns continues under the second, as long as there is room', () => {
  const page = newPage('Help', '  /name  says a word after the other\nnext')
  assert.deepEqual(lines(page, 24, 24).slice(1, -1), [
    '  /name  says a word',
    '         after the other',
    'next',
  ])
  assert.deepEqual(lines(page, 12, 24).slice(1, 3), ['  /name', 'says a word'])
  const wide = newPage('Help', '  /resume [AGENT] [TEXT]  continue an earlier conversation')
  assert.deepEqual(lines(wide, 36, 24).slice(1, -1), [
    '  /resume [AGENT] [TEXT]',
    '      continue an earlier',
    '      conversation',
  ])
})

function withKey(page: PageOverlay): PageOverlay {
  const keys = [{ key: 'd', label: 'forget', confirm: 'forget it' }]
  return { ...page, action: { picker: 'memory', value: 'db', keys } }
}

test('a page key with confirmation acts when it is pressed twice, and closes nothing else', () => {
  const page = withKey(newPage('prod db', 'It is db3.'))
  assert.deepEqual(lines(page, 80, 24), ['prod db', 'It is db3.', 'd forget · Esc closes'])
  const once = press(page, 'd')
  assert.equal(lines(once.overlay!, 80, 24).at(-1), 'd again to forget it · any other key cancels')
  const effect = { type: 'chosen', picker: 'memory', value: 'db', key: 'd' }
  assert.deepEqual(press(page, 'd', 'd').effects, [effect])
  assert.deepEqual(press(page, 'd', 'down', 'd').effects, [])
  assert.deepEqual(press(page, 'd', 'enter'), { overlay: undefined, effects: [] })
})

test('Tab goes from a picker to a wider search, if there is one', () => {
  const picker = newPicker({
    picker: 'session',
    title: 'Conversations',
    items: [],
    widerScope: 'conversations',
  })
  assert.deepEqual(press(picker, 'type:kraken', 'tab'), {
    overlay: undefined,
    effects: [{ type: 'open-search', scope: 'conversations', query: 'kraken' }],
  })
  assert.match(lines(picker, 80, 24).at(-1)!, /Tab searches messages/)
  assert.deepEqual(press(MODELS, 'tab').overlay, MODELS)
})

const KEYS = fc.constantFrom(
  ...[
    'up',
    'down',
    'page-up',
    'page-down',
    'home',
    'end',
    'x',
    'a',
    't',
    'd',
    ' ',
    'tab',
    'backspace',
    'type:日本',
  ],
)
const ITEM = fc.record({
  value: hostileText,
  label: hostileText,
  detail: hostileText,
  isCurrent: fc.boolean(),
})
const PIECES = fc.array(fc.record({ text: hostileText, isMatch: fc.boolean() }), { maxLength: 4 })
const FOUND = fc.record({
  value: hostileText,
  title: PIECES,
  detail: hostileText,
  excerpts: fc.array(fc.record({ lead: hostileText, pieces: PIECES }), { maxLength: 3 }),
})
const SEARCH: fc.Arbitrary<Overlay> = fc
  .record({
    scope: fc.constantFrom(...SEARCH_SCOPES),
    query: hostileText,
    agent: hostileText,
    sent: fc.array(hostileText, { maxLength: 10 }),
    items: fc.array(FOUND, { maxLength: 10 }),
    note: hostileText,
  })
  .map(({ items, note, ...parts }) =>
    withResults(newSearch(parts), { scope: parts.scope, query: parts.query, items, note }),
  )
const OVERLAY: fc.Arbitrary<Overlay> = fc.oneof(
  SEARCH,
  fc
    .record({ title: hostileText, items: fc.array(ITEM, { maxLength: 40 }), filter: hostileText })
    .map(({ title, items, filter }) => newPicker({ picker: 'x', title, items }, filter)),
  fc
    .record({
      title: hostileText,
      rows: fc.array(
        fc.record({
          value: hostileText,
          cells: fc.array(hostileText, { maxLength: 4 }),
          problem: hostileText,
        }),
      ),
      note: hostileText,
    })
    .map((parts): Panel => ({ ...SERVERS, ...parts })),
  fc.record({ title: hostileText, text: hostileText }).map(({ title, text }) => newPage(title, text)),
  fc
    .record({ title: hostileText, note: hostileText, items: fc.array(ITEM, { maxLength: 20 }) })
    .map((parts) => newMenu({ picker: 'x', ...parts })),
  fc
    .record({ title: hostileText, text: hostileText, help: hostileText, isSecret: fc.boolean() })
    .map((parts) => newEntry({ picker: 'x', ...parts })),
  fc
    .record({ title: hostileText, text: hostileText })
    .map(({ title, text }) => withKey(newPage(title, text))),
)

test('any overlay fits its space after any keys, and prints no control sequence except colors', () => {
  const room = fc.record({
    columns: fc.integer({ min: 20, max: 200 }),
    rows: fc.integer({ min: 8, max: 60 }),
  })
  fc.assert(
    fc.property(OVERLAY, fc.array(KEYS, { maxLength: 15 }), room, (initial, keys, { columns, rows }) => {
      let overlay: Overlay | undefined = initial
      for (const one of ['x', ...keys]) {
        overlay = pressOverlay(overlay, key(one), { columns, rows }).state
        if (!overlay) return
        const section = renderOverlay(overlay, { columns, rows, color: true, details: false })
        assert.ok(section.lines.length <= rows - 6)
        for (const line of section.lines) {
          assert.ok(stringWidth(line) <= columns, `${stringWidth(line)} columns: ${JSON.stringify(line)}`)
          assert.deepEqual(findUnprintable(line), [])
        }
      }
    }),
    { numRuns: propertyRuns(300) },
  )
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
