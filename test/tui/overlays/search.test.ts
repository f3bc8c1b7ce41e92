import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pressOverlay, renderOverlay } from '../../../src/tui/overlays/overlay.ts'
import { newSearch, withResults } from '../../../src/tui/overlays/search.ts'
import type { Overlay, Search } from '../../../src/tui/overlays/types.ts'
import { toPieces } from '../../../src/tui/search/pieces.ts'
import type { SearchResult } from '../../../src/tui/search/types.ts'
import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import { key } from '../cards/card-fixtures.ts'

const SENT = newSearch({
  scope: 'prompts',
  query: '',
  agent: 'crab',
  sent: ['git diff\n--stat', 'ls', 'git log'],
})

const KRAKEN: SearchResult = {
  value: 's1',
  title: toPieces('Who wakes at night', []),
  detail: '1y ago · owl',
  excerpts: [
    {
      lead: 'you',
      pieces: toPieces('what does the kraken do in the dock?', [
        [14, 20],
        [31, 35],
      ]),
    },
    { lead: 'owl', pieces: toPieces('It sleeps.', []) },
  ],
}
const CRONS: SearchResult = {
  value: 's2',
  title: toPieces('Cron refactor', [[0, 4]]),
  detail: '3d ago',
  excerpts: [{ lead: 'crab', pieces: toPieces(`${'word '.repeat(60)}kraken`, [[300, 306]]) }],
}

/** Returns a search in all conversations that has found these. */
function newResults(query: string, items: readonly SearchResult[], note = ''): Search {
  const search = newSearch({ scope: 'conversations', query, agent: 'crab', sent: [] })
  return withResults(search, { scope: 'conversations', query, items, note })
}

test('sent messages are listed immediately, newest first, and filtered by the typed text', () => {
  assert.deepEqual(lines(SENT), [
    `Sent: ${' '.repeat(73)}3`,
    ' [sent] conversations  memory ',
    '› git diff --stat',
    '  ls',
    '  git log',
    'Enter inserts it · Tab conversations · ↑ ↓ · Esc closes',
  ])
  assert.deepEqual(lines(press(SENT, 'type:GIT').overlay!).slice(2, -1), ['› git diff --stat', '  git log'])
  assert.deepEqual(lines(press(SENT, 'type:gitx').overlay!).slice(2, -1), ['  no sent message contains this'])
})

test('Enter inserts the selected message; Ctrl+R and Ctrl+S move like the arrows', () => {
  const insert = (...keys: string[]) => press(SENT, 'type:git', ...keys, 'enter')
  assert.deepEqual(insert(), { overlay: undefined, effects: [{ type: 'insert', text: 'git diff\n--stat' }] })
  assert.deepEqual(insert('ctrl+r').effects, [{ type: 'insert', text: 'git log' }])
  assert.deepEqual(insert('down', 'ctrl+s').effects, [{ type: 'insert', text: 'git diff\n--stat' }])
  assert.deepEqual(insert('type:x', 'backspace', 'down').effects, [{ type: 'insert', text: 'git log' }])
  assert.deepEqual(press(SENT, 'type:none', 'enter').effects, [])
})

for (const leaving of ['escape', 'ctrl+c', 'ctrl+d', 'ctrl+g']) {
  test(`${leaving} closes a search`, () => {
    assert.deepEqual(press(SENT, 'type:git', leaving), { overlay: undefined, effects: [] })
  })
}

test('Tab and the arrows cycle between sent messages, conversations and the memory, with the same words', () => {
  const scope = (...keys: string[]) => (press(SENT, 'type:g', ...keys).overlay as Search).scope
  assert.deepEqual(
    [scope('tab'), scope('tab', 'tab'), scope('tab', 'tab', 'tab'), scope('shift+tab'), scope('left')],
    ['conversations', 'memory', 'prompts', 'memory', 'memory'],
  )
  const { overlay, effects } = press(SENT, 'type:g', 'tab')
  assert.deepEqual(effects, [{ type: 'search', isTyped: false }])
  assert.deepEqual(lines(overlay!), [
    'Conversations: g',
    '  sent [conversations] memory ',
    '  searching…',
    'Enter opens it · Tab memory · ↑ ↓ · Esc closes',
  ])
})

test('typed words are searched after a pause, and the earlier results stay meanwhile', () => {
  const { overlay, effects } = press(newResults('kraken', [KRAKEN]), 'type: dock')
  assert.deepEqual(effects, Array(5).fill({ type: 'search', isTyped: true }))
  assert.match(lines(overlay!).join('\n'), /^› Who wakes at night/m)
  assert.equal(lines(overlay!)[0], 'Conversations: kraken dock')
})

test('Enter ignores results for other words', () => {
  const { overlay, effects } = press(newResults('kraken', [KRAKEN]), 'type:s', 'enter')
  assert.equal(overlay?.kind, 'search')
  assert.deepEqual(effects.at(-1), { type: 'search', isTyped: false })
})

test('results for words that have changed since are ignored', () => {
  const search = newResults('kraken', [KRAKEN])
  const late = { scope: 'conversations', query: 'krak', items: [], note: '' } as const
  assert.equal(withResults(search, late), search)
  assert.equal(withResults(search, { ...late, scope: 'memory', query: 'kraken' }), search)
})

test('Enter continues in the selected conversation; a memory entry is shown and the search stays', () => {
  assert.deepEqual(press(newResults('kraken', [KRAKEN, CRONS]), 'down', 'enter'), {
    overlay: undefined,
    effects: [{ type: 'chosen', picker: 'session', value: 's2', key: 'kraken' }],
  })
  const search = newSearch({ scope: 'memory', query: 'db', agent: 'crab', sent: [] })
  const entry = { ...KRAKEN, value: 'prod db' }
  const memory = withResults(search, { scope: 'memory', query: 'db', items: [entry], note: '' })
  assert.deepEqual(press(memory, 'enter'), {
    overlay: memory,
    effects: [{ type: 'chosen', picker: 'memory', value: 'prod db' }],
  })
})

test('conversations are listed with the text around the match, the selected one with more of it', () => {
  const search = newResults('kraken', [KRAKEN, CRONS], 'There may be more')
  assert.deepEqual(lines(search), [
    `Conversations: kraken${' '.repeat(58)}2`,
    '  sent [conversations] memory ',
    '› Who wakes at night  1y ago · owl',
    '    you: what does the kraken do in the dock?',
    '    owl: It sleeps.',
    '  Cron refactor  3d ago',
    '    crab: … word word word word kraken',
    '  There may be more',
    'Enter opens it · Tab memory · ↑ ↓ · Esc closes',
  ])
  const cron = lines(press(search, 'down').overlay!)
  assert.ok(cron.filter((line) => line.startsWith('    ')).length >= 3, cron.join('\n'))
  assert.ok(cron.join(' ').includes('kraken'))
})

test('matches are highlighted in titles and messages', () => {
  const { lines } = renderOverlay(newResults('cron kraken', [CRONS, KRAKEN]), {
    ...{ columns: 80, rows: 24, color: true, details: false },
  })
  const marked = (word: string) => `\u001b[4m${word}\u001b[24m`
  const text = lines.join('\n')
  for (const word of ['Cron', 'kraken', 'dock']) assert.ok(text.includes(marked(word)), `${word}: ${text}`)
})

test('the selected row is visible in a long list, and on low terminals with its excerpt', () => {
  const items = Array.from({ length: 20 }, (_, at) => ({
    ...KRAKEN,
    value: `${at}`,
    title: toPieces(`number ${at}`, []),
  }))
  for (const rows of [8, 10, 12, 13, 24, 50]) {
    let overlay: Overlay = newResults('kraken', items)
    for (let at = 0; at < 20; at++) {
      const shown = lines(overlay, 80, rows)
      assert.ok(shown.length <= rows - 6)
      assert.ok(shown.length >= rows - 6 - 1, `${rows}: ${shown.length}`)
      assert.ok(
        shown.some((line) => line.startsWith(`› number ${at} `)),
        `${at} of ${rows}: ${shown.join('\n')}`,
      )
      if (rows >= 10) assert.match(shown.join('\n'), /you: what does the kraken/)
      overlay = press(overlay, 'down').overlay!
    }
  }
})

test('a narrow terminal shows titles and messages', () => {
  assert.deepEqual(lines(newResults('kraken', [KRAKEN]), 40, 24), [
    `Conversations: kraken${' '.repeat(18)}1`,
    '  sent [conversations] memory ',
    '› Who wakes at night',
    '    you: what does the kraken do in the',
    '    dock?',
    '    owl: It sleeps.',
    'Enter opens it · Tab memory · ↑ ↓',
    'Esc closes',
  ])
})

test('a search without results says why', () => {
  const renderNote = (search: Search) => lines(search).at(-2)
  assert.equal(renderNote(newResults('', [])), '  no conversations yet')
  assert.equal(renderNote(newResults('krak', [])), '  no match; only whole words are found')
  assert.equal(renderNote(newResults('krak', [], 'Cannot search: no daemon')), '  Cannot search: no daemon')
})

test('words that are wider than the terminal show their end, followed by the caret', () => {
  const search = press(SENT, `type:${'long '.repeat(30)}end`).overlay!
  const { lines: shown, caret } = renderOverlay(search, {
    columns: 40,
    rows: 24,
    color: false,
    details: false,
  })
  assert.match(shown[0]!, /long end$/)
  assert.deepEqual(caret, { x: shown[0]!.length, y: 0 })
})

function press(overlay: Overlay, ...keys: string[]): { overlay: Overlay | undefined; effects: ChatEffect[] } {
  const effects: ChatEffect[] = []
  let state: Overlay | undefined = overlay
  for (const one of keys.flatMap(letters)) {
    if (!state) break
    const pressed = pressOverlay(state, key(one), { columns: 80, rows: 24 })
    state = pressed.state
    effects.push(...pressed.effects)
  }
  return { overlay: state, effects }
}

/** `type:abc` is typed letter by letter. */
function letters(keys: string): string[] {
  return keys.startsWith('type:') ? [...keys.slice('type:'.length)].map((letter) => `type:${letter}`) : [keys]
}

function lines(overlay: Overlay, columns = 80, rows = 24): readonly string[] {
  return renderOverlay(overlay, { columns, rows, color: false, details: false }).lines
}
