import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from '../../../../src/tui/view/markdown/render.ts'
import { makeView, plain } from '../support.ts'

const renderLines = (text: string, columns = 30) => renderMarkdown(text, makeView({ columns }))

test('renderMarkdown() of code starts in the first column, below a rule with its language', () => {
  assert.deepEqual(renderLines('```ts title="x"\nif (a)\n  b()\n\n  c()\n```\nafter'), [
    `── ts ${'─'.repeat(24)}`,
    'if (a)',
    '  b()',
    '',
    '  c()',
    '',
    'after',
  ])
})

test('renderMarkdown() of code cuts long lines without a mark, or leaves them to the terminal', () => {
  const text = '~~~\n1234567890  345\n~~~'
  assert.deepEqual(renderLines(text, 12), ['1234567890  ', '345'])
  const view = makeView({ columns: 12, softWrap: true })
  assert.deepEqual(renderMarkdown(text, view), ['1234567890  345'])
  assert.deepEqual(renderMarkdown('- a\n\n      1234567890  345', view), ['• a', '', '  1234567890  345'])
  const quoted = renderMarkdown('> ~~~\n> 1234567890  345\n> ~~~', view)
  assert.deepEqual(quoted, ['│ 1234567890', '│   345'])
})

test('renderMarkdown() of code removes the indentation of its fence', () => {
  assert.deepEqual(renderLines('  ```\n  a\n    b\n c\n  ```'), ['a', '  b', 'c'])
  assert.deepEqual(renderLines('1. x\n   ```\n   a\n     b\n   ```'), ['1. x', '', '   a', '     b'])
})

test('renderMarkdown() of code shows a long fence in full, and its language once', () => {
  const code = Array.from({ length: 100 }, (_, i) => (i % 7 === 0 ? '' : `line ${i}`))
  assert.deepEqual(renderLines(['```js', ...code, '```'].join('\n')), [`── js ${'─'.repeat(24)}`, ...code])
})

test('renderMarkdown() of code colors known languages without changing a character', () => {
  const code = ['const a = `x y` // <&>', 'function f() { return 1 }']
  const lines = renderMarkdown(['```js', ...code, '```'].join('\n'), makeView({ color: true }))
  assert.deepEqual(plain(lines).slice(1), code)
  assert.match(plain(lines)[0]!, /^── js ─+$/)
  assert.ok(lines[1]!.startsWith('\x1b[35mconst\x1b[39m'))
  assert.deepEqual(renderMarkdown('```nothing\nconst a\n```', makeView({ color: true })).at(-1), 'const a')
})
