import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEYMAP, type KeyBinding, showChord } from '../../../src/core/keys/keymap.ts'
import {
  EMPTY_PROMPT,
  findPasted,
  fullPromptText,
  getSign,
  type Prompt,
  pastedDraft,
  withDraft,
  withEdited,
  withHistory,
  withReturned,
  withSent,
} from '../../../src/tui/text/prompt-state.ts'
import { toHistory, typed } from './keys.ts'

/** Keys, and the text they leave; `|` is the caret. */
const EDITS: [string[], string][] = [
  [['abc'], 'abc|'],
  [['abc', 'left', 'left', 'X'], 'aX|bc'],
  [['👩‍👩‍👧‍👦e\u0301🇩🇪', 'backspace'], '👩‍👩‍👧‍👦e\u0301|'],
  [['👩‍👩‍👧‍👦e\u0301', 'backspace', 'left', 'x'], 'x|👩‍👩‍👧‍👦'],
  [['🇩🇪', 'left', '🇫'], '🇫🇩|🇪'],
  [['abc', 'ctrl+a', 'delete'], '|bc'],
  [['abc', 'ctrl+a', 'ctrl+d', 'right'], 'b|c'],
  [['one two', 'alt+b', 'alt+b', 'alt+f', '!'], 'one!| two'],
  [['one two-three', 'ctrl+left', 'X'], 'one two-X|three'],
  [['one  two ', 'ctrl+w'], 'one  |'],
  [['one two-three', 'alt+backspace'], 'one two-|'],
  [['one two', 'ctrl+a', 'alt+d'], '| two'],
  [['漢字と仮名', 'alt+b', 'X'], '漢字とX|仮名'],
  [['one', 'alt+enter', 'two', 'ctrl+u'], 'one\n|'],
  [['one', 'alt+enter', 'two', 'ctrl+u', 'ctrl+u'], 'one|'],
  [['one', 'alt+enter', 'two', 'up', 'ctrl+k'], 'one|two'],
  [['one two', 'ctrl+w', 'ctrl+y', 'ctrl+y'], 'one twotwo|'],
  [['one two', 'ctrl+w', 'ctrl+w', 'ctrl+y'], 'one two|'],
  [['one', 'ctrl+w', 'two', 'ctrl+w', 'ctrl+y', 'alt+y'], 'one|'],
  [['one', 'ctrl+w', 'two', 'ctrl+w', 'ctrl+y', 'alt+y', 'alt+y'], 'two|'],
  [['one', 'ctrl+w', 'ctrl+y', 'left', 'alt+y'], 'on|e'],
  [['abc', 'left', 'alt+t'], 'acb|'],
  [['abc', 'alt+t'], 'acb|'],
  [['a', 'alt+t'], 'a|'],
  [['a', 'b', ' ', 'c', 'ctrl+_'], 'ab|'],
  [['a', 'b', ' ', 'c', 'ctrl+_', 'ctrl+_'], '|'],
  [['a', 'b', ' ', 'c', 'ctrl+_', 'ctrl+_', 'alt+_'], 'ab|'],
  [['abc', 'backspace', 'backspace', 'ctrl+_'], 'abc|'],
  [['abc', 'ctrl+_', 'x', 'alt+_'], 'x|'],
  [['one', 'shift+enter', 'two', 'alt+<', 'X', 'alt+>', 'Y'], 'Xone\ntwoY|'],
  [['one\\', 'enter', 'two'], 'one\ntwo|'],
  [['a\\', 'alt+enter', 'b', 'up', 'end', 'enter', 'c'], 'a\nc|\nb'],
  [['one', 'ctrl+j', 'two'], 'one\ntwo|'],
  [['abc', 'ctrl+h'], 'ab|'],
  [['abc', 'ctrl+b', 'ctrl+b', 'ctrl+f', 'X'], 'abX|c'],
]

test('pressPrompt() edits', () => {
  for (const [keys, expected] of EDITS) assert.equal(showCaret(typed(keys).prompt), expected, keys.join(' '))
})

test('up and down keep the column they started from', () => {
  const lines = ['long line one', 'alt+enter', 'x', 'alt+enter', 'long line three']
  assert.equal(showCaret(typed([...lines, 'up']).prompt), 'long line one\nx|\nlong line three')
  assert.equal(
    showCaret(typed([...lines, 'left', 'left', 'up', 'up']).prompt),
    'long line one|\nx\nlong line three',
  )
  assert.equal(
    showCaret(typed([...lines, 'left', 'left', 'up', 'left', 'up']).prompt),
    '|long line one\nx\nlong line three',
  )
})

test('up, down, home and end move by rows of the terminal', () => {
  const context = { columns: 13 } // ten of them for text
  const text = 'one two three four'
  assert.equal(showCaret(typed([text, 'up'], context).prompt), 'one two| three four')
  assert.equal(showCaret(typed([text, 'home'], context).prompt), 'one two |three four')
  assert.equal(showCaret(typed([text, 'ctrl+a'], context).prompt), '|one two three four')
  assert.equal(showCaret(typed([text, 'ctrl+a', 'end', 'X'], context).prompt), 'one twoX| three four')
})

/** Keys, whether a turn runs, and the effects they request. */
const EFFECTS: [string[], boolean, unknown[]][] = [
  [['hi', 'enter'], false, [{ type: 'submit', text: 'hi' }]],
  [['hi', 'enter'], true, [{ type: 'submit', text: 'hi' }]],
  [['enter'], false, []],
  [[' ', 'alt+enter', 'enter'], false, []],
  [[' hi ', 'alt+enter', 'enter'], false, [{ type: 'submit', text: ' hi' }]],
  [['a\\\\', 'enter'], false, [{ type: 'submit', text: 'a\\\\' }]],
  [['hi', 'tab'], true, [{ type: 'queue', text: 'hi' }]],
  [['hi', 'tab'], false, []],
  [['tab'], true, []],
  [['alt+up'], true, [{ type: 'take-queue-back' }]],
  [['escape'], true, [{ type: 'interrupt' }]],
  [['hi', 'escape'], true, [{ type: 'interrupt' }]],
  [['hi', 'escape', 'escape'], false, []],
  [['ctrl+c'], true, [{ type: 'interrupt' }]],
  [['hi', 'ctrl+c'], true, [{ type: 'interrupt' }]],
  [['ctrl+c'], false, []],
  [['ctrl+c', 'ctrl+c'], false, [{ type: 'leave' }]],
  [['ctrl+c', 'x', 'backspace', 'ctrl+c'], false, []],
  [['hi', 'ctrl+c', 'ctrl+c'], false, []],
  [['hi', 'ctrl+c', 'ctrl+c', 'ctrl+c'], false, [{ type: 'leave' }]],
  [['ctrl+d'], false, [{ type: 'leave' }]],
  [['hi', 'ctrl+d'], false, []],
  [['ctrl+z'], false, [{ type: 'suspend' }]],
  [['ctrl+l'], false, [{ type: 'redraw' }]],
  [['ctrl+g'], false, [{ type: 'edit-externally' }]],
  [['ctrl+t'], false, [{ type: 'toggle-thinking' }]],
  [['ctrl+v'], false, [{ type: 'paste' }]],
  [['ctrl+o'], false, [{ type: 'open-transcript' }]],
  [['shift+tab'], false, [{ type: 'cycle-mode' }]],
  [['?'], false, [{ type: 'command', line: '/help' }]],
  [['why', '?', 'enter'], false, [{ type: 'submit', text: 'why?' }]],
  [['!ls', 'enter'], false, [{ type: 'submit', text: '!ls' }]],
  [['ctrl+x', 'page-up', 'alt+x'], false, []],
]

test('pressPrompt() requests the effects it cannot perform itself', () => {
  for (const [keys, isBusy, expected] of EFFECTS)
    assert.deepEqual(typed(keys, { isBusy }).effects, expected, `${keys.join(' ')} ${isBusy}`)
})

test('a turn that is being cancelled no longer prevents Ctrl+C from leaving', () => {
  const { effects } = typed(['ctrl+c', 'ctrl+c'], { isBusy: true, isCancelling: true })
  assert.deepEqual(effects, [{ type: 'leave' }])
})

test('the prompt is empty after sending, and Up restores the text; also a cleared draft', () => {
  for (const clear of [['enter'], ['escape', 'escape'], ['ctrl+c']]) {
    const { prompt } = typed(['one', ...clear])
    assert.equal(showCaret(prompt), '|')
    assert.equal(showCaret(typed(['up'], { prompt }).prompt), 'one|')
  }
  assert.equal(showCaret(typed(['one', 'ctrl+c', 'ctrl+y']).prompt), 'one|')
})

test('Up and Down walk through the history, and keep the draft and edits made on the way', () => {
  const prompt = withHistory(EMPTY_PROMPT, toHistory('first', 'second\nline'))
  const walk = (...keys: string[]) => showCaret(typed(keys, { prompt }).prompt)
  assert.equal(walk('draft', 'up'), 'second|\nline')
  assert.equal(walk('draft', 'up', 'up'), 'first|')
  assert.equal(walk('draft', 'up', 'up', 'up'), 'first|')
  assert.equal(walk('draft', 'up', 'up', 'down'), 'second\nline|')
  assert.equal(walk('draft', 'up', 'up', 'down', 'down'), 'draft|')
  assert.equal(walk('draft', 'up', 'up', 'X', 'down', 'up', 'up'), 'firstX|')
  assert.equal(walk('draft', 'down'), 'draft|')
  assert.equal(walk('up', 'up', 'enter', 'up'), 'first|')
  assert.equal(walk('up', 'up', 'enter', 'up', 'up'), 'second|\nline')
})

test('an entry of the history opens no menu, so Up reaches the one before it', () => {
  const prompt = withHistory(EMPTY_PROMPT, toHistory('first', '/connect', 'see @src'))
  const commands = [{ name: 'connect', args: '', summary: 'connect a model' }]
  const walk = (...keys: string[]) => typed(keys, { prompt, commands }).prompt
  assert.equal(showCaret(walk('up', 'up', 'up')), 'first|')
  assert.equal(walk('up', 'up').menu, undefined)
  assert.equal(walk('/con').menu?.entries.length, 1)
})

test('a message that is sent twice in a row is in the history once', () => {
  const { prompt } = typed(['a', 'enter', 'a', 'enter', 'b', 'enter'])
  assert.deepEqual(prompt.history.sent, ['a', 'b'])
})

test('Ctrl+R requests a search in sent messages, and keeps the draft', () => {
  const { prompt, effects } = typed(['draft', 'ctrl+r'])
  assert.equal(showCaret(prompt), 'draft|')
  assert.deepEqual(effects, [{ type: 'open-search', scope: 'prompts', query: '' }])
})

test('withSent() replaces the draft with a text, and undo restores it', () => {
  const found = withSent(typed(['/dra']).prompt, 'git log')
  assert.equal(showCaret(found), 'git log|')
  assert.equal(found.menu, undefined)
  assert.equal(showCaret(typed(['ctrl+_'], { prompt: found }).prompt), '/dra|')
})

test('one line after a # is a note; headings, issues, scripts and several lines are not', () => {
  const sign = (...keys: string[]) => getSign(typed(keys).prompt)
  for (const note of ['#', '#buy milk', '# buy milk', '#日本', '#a #1']) assert.equal(sign(note), '#', note)
  for (const other of ['##', '## Title', '#12 fails', '#!/bin/sh', ' #note', 'a #note'])
    assert.equal(sign(other), undefined, other)
  assert.equal(sign('#one', 'ctrl+j', 'two'), undefined)
  assert.equal(sign('#one', `paste:${'line\n'.repeat(11)}`), undefined)
  assert.equal(sign('#one', 'ctrl+j'), '#', 'an empty line at the end is not sent')
  assert.equal(sign('!# comment'), '!')
})

test('a long paste is one character until it is sent', () => {
  const lines = 'line\n'.repeat(11)
  const keys = ['see ', `paste:${lines}`, ' please']
  assert.deepEqual(typed([...keys, 'enter']).effects, [{ type: 'submit', text: `see ${lines} please` }])
  assert.deepEqual(findPasted(typed([...keys, 'enter']).prompt, `see ${lines} please`), [lines])
  const { prompt } = typed(keys)
  assert.equal(prompt.text.length, 'see  please'.length + 2)
  assert.equal(fullPromptText(prompt), `see ${lines} please`)
  const gone = typed(['alt+b', 'left', 'backspace'], { prompt }).prompt
  assert.equal(showCaret(gone), 'see | please')
  assert.equal(fullPromptText(typed(['ctrl+_'], { prompt: gone }).prompt), `see ${lines} please`)
  const killed = typed(['ctrl+u', 'ctrl+y'], { prompt }).prompt
  assert.equal(fullPromptText(killed), `see ${lines} please`)
  const again = typed(['ctrl+u', 'x', 'enter', 'ctrl+y', 'enter'], { prompt })
  assert.deepEqual(again.effects.at(-1), { type: 'submit', text: `see ${lines} please` })
})

test('a short paste is text, without control characters', () => {
  assert.equal(showCaret(typed(['paste:one\r\ntwo\tthree']).prompt), 'one\ntwo\tthree|')
  assert.equal(
    showCaret(typed(['paste:\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b1mbold \u202eend']).prompt),
    'red ]0;title bold end|',
  )
  assert.equal(showCaret(typed([`paste:${'line\n'.repeat(10)}`]).prompt), `${'line\n'.repeat(10)}|`)
})

test('a pasted path of an image is a mention of it', () => {
  const PATHS: [string, string][] = [
    ['/tmp/dot.png', '@/tmp/dot.png |'],
    ['/tmp/a\\ b.PNG', '@"/tmp/a b.PNG" |'],
    ["'/tmp/a b.jpeg' ", '@"/tmp/a b.jpeg" |'],
    ['file:///tmp/a%20b.webp\n', '@"/tmp/a b.webp" |'],
    ['C:\\Users\\a b\\dot.gif', '@"C:\\Users\\a b\\dot.gif" |'],
    ['file:///C:/a%20b/dot.png', '@"C:/a b/dot.png" |'],
    ['dot.png', 'dot.png|'],
    ['/tmp/a.txt', '/tmp/a.txt|'],
    ['/tmp/one.png and /tmp/two.png', '/tmp/one.png and /tmp/two.png|'],
  ]
  for (const [path, expected] of PATHS) assert.equal(showCaret(typed([`paste:${path}`]).prompt), expected)
  assert.equal(showCaret(typed(['see', 'paste:~/dot.png']).prompt), 'see @~/dot.png |')
})

test('returned messages go before the draft', () => {
  const { prompt } = typed(['draft'])
  assert.equal(showCaret(withReturned(prompt, ['one', 'two'])), 'one\ntwo\ndraft|')
  assert.equal(showCaret(withReturned(EMPTY_PROMPT, ['one'])), 'one|')
  assert.equal(withReturned(prompt, []), prompt)
})

const LOG = Array.from({ length: 14 }, (_, at) => `line ${at} of @/private/key${at}\n`).join('')

/** Ways in which a draft with a paste can be sent, with the resulting prompt. */
const WAYS: Record<string, (draft: Prompt) => Prompt> = {
  'at once': (draft) => draft,
  'with a queue that came back': (draft) => withReturned(draft, ['queued']),
  'queued and taken back': (draft) =>
    withReturned(typed(['enter'], { prompt: draft }).prompt, [fullPromptText(draft)]),
  'sent, and recalled': (draft) => typed(['enter', 'up'], { prompt: draft }).prompt,
  'sent, and found': (draft) => withSent(typed(['enter'], { prompt: draft }).prompt, fullPromptText(draft)),
  'discarded, and recalled': (draft) => typed(['ctrl+c', 'up'], { prompt: draft }).prompt,
  'left for the history': (draft) =>
    typed(['up', 'up', 'down', 'down'], { prompt: withHistory(draft, toHistory('before')) }).prompt,
  'edited elsewhere': (draft) => withEdited(draft, draft, `${fullPromptText(draft)} at all`),
  'sent in an earlier run': (draft) => {
    const text = fullPromptText(draft)
    const { prompt } = typed(['enter'], { prompt: draft })
    return typed(['up'], { prompt: withHistory(EMPTY_PROMPT, [{ text, pasted: findPasted(prompt, text) }]) })
      .prompt
  },
  'behind many other pastes': (draft) => {
    const others = Array.from({ length: 30 }, (_, at) => [`paste:${at}\n`.padEnd(40, 'x\n'), 'enter'])
    const { prompt } = typed(others.flat(), { prompt: typed(['enter'], { prompt: draft }).prompt })
    return withReturned(prompt, [fullPromptText(draft)])
  },
}

test('a paste stays a paste, whichever way it is sent', () => {
  for (const [way, go] of Object.entries(WAYS)) {
    const prompt = go(typed(['see @typed.md ', `paste:${LOG}`, ' please']).prompt)
    assert.equal(prompt.text.includes('private'), false, way)
    const sent = typed(['enter'], { prompt })
    const [effect] = sent.effects
    assert.ok(effect?.type === 'submit' && effect.text.includes(LOG), way)
    assert.deepEqual(findPasted(sent.prompt, effect.text), [LOG], way)
  }
})

test('a paste at the end of a sent message is still one when it is recalled', () => {
  const { prompt } = typed(['see ', `paste:${LOG}`, 'enter', 'up'])
  assert.equal(prompt.text.includes('private'), false)
  assert.equal(fullPromptText(prompt), `see ${LOG.trimEnd()}`)
})

test('pasted text that an editor changed does not become a typed mention', () => {
  const draft = typed(['see ', `paste:${LOG}`]).prompt
  const text = fullPromptText(draft)
  const edits = [
    text.replace('line 3', 'LINE THREE'),
    text.replaceAll('line', 'entry'),
    text.replace('key3', 'key3, or key 4'),
    text.replace('/private/key3\n', '/private/key3:1-2.\n'),
    text.replaceAll('\n', '  \n'),
    text.replace('line 3 of', 'line\n3 of'),
  ]
  for (const edit of edits) {
    const prompt = withEdited(draft, draft, `${edit}and @typed.md`)
    assert.equal(prompt.text.includes('@/'), false, edit)
    assert.ok(prompt.text.endsWith('and @typed.md'))
    assert.equal(fullPromptText(prompt), `${edit}and @typed.md`)
  }
})

test('an edit applies to the draft it started from: messages that returned meanwhile stay before it', () => {
  const draft = typed(['draft ', `paste:${LOG}`]).prompt
  const now = withReturned(draft, ['steer'])
  const edited = withEdited(draft, now, fullPromptText(draft).replace('draft', 'better'))
  assert.equal(fullPromptText(edited), `steer\nbetter ${LOG}`)
  assert.equal(edited.text.includes('private'), false)
  assert.equal(
    showCaret(withEdited(EMPTY_PROMPT, withReturned(EMPTY_PROMPT, ['steer']), 'new')),
    'steer\nnew|',
  )
  assert.equal(showCaret(withEdited(typed(['a']).prompt, typed(['b']).prompt, 'c')), 'b\nc|')
  assert.equal(showCaret(typed(['ctrl+_'], { prompt: edited }).prompt), `${now.text}|`)
})

test('text from elsewhere cannot pass as a placeholder', () => {
  const fake = '\u{10f000}'
  const draft = typed([`paste:${LOG}`]).prompt
  for (const prompt of [withEdited(draft, draft, `${LOG}x${fake}`), withReturned(draft, [`${fake}`])])
    assert.equal(fullPromptText(prompt).split('key3').length, 2)
})

test('the text from an editor replaces the draft, and can be undone', () => {
  const draft = typed(['draft']).prompt
  const prompt = withEdited(draft, draft, 'edited\r\n\x07text')
  assert.equal(showCaret(prompt), 'edited\ntext|')
  assert.equal(showCaret(typed(['ctrl+_'], { prompt }).prompt), 'draft|')
  const long = 'word '.repeat(5_000)
  assert.equal(withEdited(draft, draft, long).text.length, 2)
  assert.equal(fullPromptText(withEdited(draft, draft, long)), long)
})

test('Ctrl+B leaves a running turn with and without a draft, and moves back while none runs', () => {
  const leaves = [{ type: 'command', line: '/background' }]
  for (const keys of [['ctrl+b'], ['abc', 'ctrl+b']])
    assert.deepEqual(typed(keys, { isBusy: true }).effects, leaves)
  assert.equal(showCaret(typed(['abc', 'ctrl+b'], { isBusy: true }).prompt), 'abc|')
  assert.deepEqual(typed(['abc', 'ctrl+b']).effects, [])
})

test('the left arrow opens the agents view in an empty prompt only, and not while a card is shown', () => {
  const opens = [{ type: 'command', line: '/agents' }]
  assert.deepEqual(typed(['left']).effects, opens)
  assert.deepEqual(typed(['left'], { isBusy: true }).effects, opens)
  assert.deepEqual(typed(['a', 'left']).effects, [])
  assert.deepEqual(typed(['left'], { hasCard: true }).effects, [])
})

test('withDraft() puts a stored draft in front of the prompt, with its pasted parts as placeholders', () => {
  const pasted = 'line\n'.repeat(20)
  const restored = withDraft(typed(['now']).prompt, { text: `see ${pasted}`, pasted: [pasted] })
  assert.equal(fullPromptText(restored), `see ${pasted}\nnow`)
  assert.ok(restored.text.length < 20)
  assert.deepEqual(pastedDraft(restored), [pasted])
})

test('no key has two meanings in one state of the chat', () => {
  const keys = KEYMAP.flatMap((row: KeyBinding) => row.keys.map((key) => `${key} ${row.when ?? ''}`))
  assert.deepEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    [],
  )
  assert.deepEqual(['ctrl+alt+a', 'escape', 'alt+<', 'ctrl+-'].map(showChord), [
    'Ctrl+Alt+A',
    'Esc',
    'Alt+<',
    'Ctrl+-',
  ])
})

function showCaret({ text, caret }: Prompt): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`
}

test('Ctrl+X expands a paste in place, and its text still does not count as typed, even when edited', () => {
  const log = Array.from({ length: 20 }, (_, at) => `line ${at} of @secret.txt`).join('\n')
  const { prompt } = typed(['see ', `paste:${log}`, ' please', 'left', 'ctrl+x'])
  assert.equal(prompt.text, `see ${log} please`)
  assert.deepEqual(typed(['ctrl+_'], { prompt }).prompt.text.length, 'see  please'.length + 2)
  const sent = typed(['enter'], { prompt })
  assert.deepEqual(findPasted(sent.prompt, `see ${log} please`), [log])
  const edited = typed([...Array(17).fill('left'), 'X', 'enter'], { prompt })
  const effect = edited.effects.find(({ type }) => type === 'submit')
  assert.ok(effect?.type === 'submit')
  assert.match(effect.text, /line X19 of @secret/)
  const rest = findPasted(edited.prompt, effect.text).reduce(
    (text, paste) => text.replaceAll(paste, ''),
    effect.text,
  )
  assert.doesNotMatch(rest, /@secret/)
})

test('Ctrl+X without a paste changes nothing', () => {
  assert.equal(typed(['hello', 'ctrl+x']).prompt.text, 'hello')
})
