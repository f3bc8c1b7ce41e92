import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Prompt, withCommands, withCompletions } from '../../../src/tui/text/prompt-state.ts'
import { typed } from './keys.ts'

const commands = [
  { name: 'help', aliases: ['h'], args: '', summary: 'keys and commands' },
  { name: 'model', args: '[NAME]', summary: 'another model' },
  { name: 'rename', args: 'TITLE', summary: 'another title' },
  { name: 'theme', args: '[NAME]', summary: 'other colours' },
]
const context = { commands }
const FILES = ['src/main.ts', 'src/', 'with blank/', 'a b.txt']

test('a slash at the start opens the commands, by prefix and then by any part', () => {
  const labels = (text: string) => typed([text], context).prompt.menu?.entries.map(({ label }) => label)
  assert.deepEqual(labels('/'), ['/help', '/model [NAME]', '/rename TITLE', '/theme [NAME]'])
  assert.deepEqual(labels('/me'), ['/rename TITLE', '/theme [NAME]'])
  assert.deepEqual(labels('/H'), ['/help', '/theme [NAME]'])
  assert.deepEqual(labels('/ano'), ['/model [NAME]', '/rename TITLE']) // what they are about
  assert.deepEqual(labels('/an'), undefined)
  assert.deepEqual(labels('/nothing'), undefined)
  assert.deepEqual(labels(' /'), undefined)
  assert.deepEqual(labels('/help '), undefined)
  assert.deepEqual(labels('/usr/bin'), undefined)
})

/** Keys, the text they leave, and what is sent. */
const COMMANDS: [string[], string, string?][] = [
  [['/mo', 'tab'], '/model |'],
  [['/mo', 'enter'], '|', '/model'],
  [['/help', 'enter'], '|', '/help'],
  [['/h', 'enter'], '|', '/help'],
  [['/ren', 'enter'], '/rename |'],
  [['/ren', 'enter', 'new title', 'enter'], '|', '/rename new title'],
  [['/', 'down', 'down', 'tab'], '/rename |'],
  [['/', 'up', 'tab'], '/theme |'],
  [['/', 'ctrl+n', 'ctrl+p', 'tab'], '/help |'],
  [['/mo', 'escape', 'enter'], '|', '/mo'],
  [['/mo', 'escape', 'd', 'tab'], '/mod|'],
  [['/mo', 'escape', 'backspace', 'backspace', 'backspace', '/mo', 'tab'], '/model |'],
  [['/nothing', 'enter'], '|', '/nothing'],
  [['/colours', 'enter'], '|', '/colours'], // it may be a skill
  [['/colours', 'tab'], '/theme |'],
  [['/another', 'down', 'enter'], '/rename |'],
  [['/model x', 'ctrl+a', 'right', 'tab'], '/help |x'],
]

test('a command is completed by Tab, and run by Enter when it needs no arguments', () => {
  for (const [keys, expected, sent] of COMMANDS) {
    const { prompt, effects: all } = typed(keys, context)
    assert.equal(showCaret(prompt), expected, keys.join(' '))
    const effects = all.filter(({ type }) => type !== 'complete')
    assert.deepEqual(effects, sent === undefined ? [] : [{ type: 'submit', text: sent }], keys.join(' '))
  }
})

test('a slash asks once for commands that are not known yet', () => {
  const { effects } = typed(['/', 'm', 'o', 'backspace'], context)
  assert.deepEqual(effects, [{ type: 'complete', kind: 'command', query: '' }])
})

test('withCommands() adds new commands to the open menu, and keeps the selection', () => {
  const { prompt } = typed(['/', 'down'], context)
  const before = prompt.menu!.entries[1]!.value
  const more = withCommands(prompt, [{ name: 'docs:hello', args: '', summary: '' }, ...context.commands!])
  assert.equal(more.menu?.entries[0]?.value, 'docs:hello')
  assert.equal(more.menu?.entries[more.menu.selected]?.value, before)
  assert.equal(withCommands({ ...prompt, text: 'x', caret: 1 }, []).text, 'x')
})

test('an @ asks for files, whenever the text after it changes', () => {
  const queries = (...keys: string[]) =>
    typed(keys, context).effects.map((effect) => (effect.type === 'complete' ? effect.query : effect))
  assert.deepEqual(queries('@', 's', 'r'), ['', 's', 'sr'])
  assert.deepEqual(queries('see (@s'), ['s'])
  assert.deepEqual(queries('@"a b'), ['a b'])
  assert.deepEqual(queries('@s', 'left'), ['s', ''])
  assert.deepEqual(queries('@s', ' ', 'x'), ['s'])
  assert.deepEqual(queries('user@host', ' !@x', ' @y', ' '), ['y'])
  assert.deepEqual(queries('!cat @x'), [])
})

/** The typed text, the keys pressed once the files are there, and the resulting text. */
const MENTIONS: [string, string[], string][] = [
  ['@', ['tab'], '@src/main.ts |'],
  ['see @', ['enter'], 'see @src/main.ts |'],
  ['@', ['down', 'tab'], '@src/|'],
  ['@', ['down', 'down', 'enter'], '@"with blank/|'],
  ['@', ['up', 'enter'], '@"a b.txt" |'],
  ['@"', ['up', 'enter'], '@"a b.txt" |'],
]

test('a file is completed by Tab or Enter, quoted if it has a blank; a folder keeps the menu open', () => {
  for (const [text, keys, expected] of MENTIONS) {
    const found = withFiles(typed([text], context).prompt)
    const { prompt, effects } = typed(keys, { ...context, prompt: found })
    assert.equal(showCaret(prompt), expected, `${text} ${keys}`)
    assert.ok(effects.every(({ type }) => type === 'complete'))
  }
})

test('a file replaces the whole word at the caret', () => {
  const { prompt } = typed(['see @x and', 'alt+b', 'left', 'left'], context)
  const found = withCompletions(prompt, '', FILES)
  assert.equal(showCaret(typed(['tab'], { ...context, prompt: found }).prompt), 'see @src/main.ts |and')
})

test('completing a folder asks for its contents', () => {
  const found = withFiles(typed(['@'], context).prompt)
  const { effects } = typed(['down', 'tab'], { ...context, prompt: found })
  assert.deepEqual(effects, [{ type: 'complete', kind: 'file', query: 'src/' }])
})

test('Tab on a folder that is typed already completes its contents, and Enter sends it', () => {
  const { prompt } = typed(['@src/'], context)
  const found = { ...context, prompt: withCompletions(prompt, 'src/', ['src/', 'src/a.ts']) }
  assert.equal(showCaret(typed(['tab'], found).prompt), '@src/a.ts |')
  assert.deepEqual(typed(['enter'], found).effects, [{ type: 'submit', text: '@src/' }])
})

test('a path that is typed to its end is sent by one Enter', () => {
  const found = withCompletions(typed(['see @a.ts'], context).prompt, 'a.ts', ['a.ts', 'b/a.ts'])
  assert.deepEqual(typed(['enter'], { ...context, prompt: found }).effects, [
    { type: 'submit', text: 'see @a.ts' },
  ])
})

test('files that arrive too late, or for a closed menu, change nothing', () => {
  const { prompt } = typed(['@s'], context)
  assert.equal(withCompletions(prompt, 'other', FILES), prompt)
  const closed = typed(['escape'], { ...context, prompt: withCompletions(prompt, 's', FILES) }).prompt
  assert.equal(closed.menu, undefined)
  assert.equal(withCompletions(closed, 's', FILES), closed)
})

test('the files that still match are shown until the next ones arrive', () => {
  const found = withFiles(typed(['@'], context).prompt)
  const { prompt } = typed(['main'], { ...context, prompt: found })
  assert.deepEqual(
    prompt.menu?.entries.map(({ value }) => value),
    ['src/main.ts'],
  )
  assert.equal(withCompletions(prompt, 'main', []).menu, undefined)
})

test('Esc closes the menu before it interrupts', () => {
  const open = withFiles(typed(['@'], context).prompt)
  const { prompt, effects } = typed(['escape'], { ...context, isBusy: true, prompt: open })
  assert.deepEqual([prompt.menu, effects], [undefined, []])
  assert.deepEqual(typed(['escape'], { ...context, isBusy: true, prompt }).effects, [{ type: 'interrupt' }])
})

test('Tab completes from the menu also while a turn runs', () => {
  const open = withFiles(typed(['@'], context).prompt)
  const { prompt, effects } = typed(['tab', 'tab'], { ...context, isBusy: true, prompt: open })
  assert.deepEqual([showCaret(prompt), effects], ['|', [{ type: 'queue', text: '@src/main.ts' }]])
})

function withFiles(prompt: Prompt): Prompt {
  return withCompletions(prompt, '', FILES)
}

function showCaret({ text, caret }: Prompt): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`
}
