import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMarkdown } from '../../../../src/tui/view/markdown/render.ts'
import { makeView, plain } from '../support.ts'

const renderLines = (text: string, columns = 30) => renderMarkdown(text, makeView({ columns }))

test('renderMarkdown() of code starts in the first column, below the name of the language', () => {
  assert.deepEqual(renderLines('```ts title="x"\nif (a)\n  b()\n\n  c()\n```\nafter'), [
    'ts',
    'if (a)',
    '  b()',
    '',
    '  c()',
    '',
    'after',
  ])
})

test('renderMarkdown() of code marks wrapped lines, and loses no blank', () => {
  assert.deepEqual(renderLines('~~~\n1234567890  345\n~~~', 12), ['1234567890  ', '↳ 345'])
})

test('renderMarkdown() of code removes the indentation of its fence', () => {
  assert.deepEqual(renderLines('  ```\n  a\n    b\n c\n  ```'), ['a', '  b', 'c'])
  assert.deepEqual(renderLines('1. x\n   ```\n   a\n     b\n   ```'), ['1. x', '', '   a', '     b'])
})

test('renderMarkdown() of code shows a long fence in full, and its language once', () => {
  const code = Array.from({ length: 100 }, (_, i) => (i % 7 === 0 ? '' : `line ${i}`))
  assert.deepEqual(renderLines(['```js', ...code, '```'].join('\n')), ['js', ...code])
})

test('renderMarkdown() of code colors known languages without changing a character', () => {
  const code = ['const a = `x y` // <&>', 'function f() { return 1 }']
  const lines = renderMarkdown(['```js', ...code, '```'].join('\n'), makeView({ color: true }))
  assert.deepEqual(plain(lines), ['js', ...code])
  assert.ok(lines[1]!.startsWith('\x1b[35mconst\x1b[39m'))
  assert.deepEqual(renderMarkdown('```nothing\nconst a\n```', makeView({ color: true })).at(-1), 'const a')
})
