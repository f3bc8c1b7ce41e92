import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { appendSentHistory, readSentHistory } from '../../../src/commands/chat/history-file.ts'
import type { SentText } from '../../../src/tui/text/history.ts'

test('sent messages are restored in order, from a private file', async () => {
  await using box = await openBox()
  for (const text of ['one', 'two\nlines', '„três“ 👩‍👩‍👧‍👦']) await appendSentHistory(box.file, typed(text))
  assert.deepEqual(toTexts(await readSentHistory(box.file)), ['one', 'two\nlines', '„três“ 👩‍👩‍👧‍👦'])
  assert.equal((await stat(box.file)).mode & 0o777, 0o600)
})

test('a text that is sent twice in a row is stored once; an empty one is not stored', async () => {
  await using box = await openBox()
  for (const text of ['a', 'a', ' ', 'b', 'a']) await appendSentHistory(box.file, typed(text))
  assert.deepEqual(toTexts(await readSentHistory(box.file)), ['a', 'b', 'a'])
  assert.equal((await readFile(box.file, 'utf8')).split('\n').length, 4)
})

test('pasted text is stored with its message', async () => {
  await using box = await openBox()
  const sent = { text: 'see a log please', pasted: ['a log'] }
  await appendSentHistory(box.file, sent)
  await appendSentHistory(box.file, sent)
  await appendFile(box.file, '{"text":"odd","pasted":7}\n{"text":"odd","pasted":[7]}\n{"text":"old"}\n')
  assert.deepEqual(await readSentHistory(box.file), [sent, typed('old')])
  assert.equal((await readFile(box.file, 'utf8')).split('\n')[0], JSON.stringify(sent))
})

test('pasted text is still there after a long history was rewritten', async () => {
  await using box = await openBox()
  const lines = Array.from({ length: 1_300 }, (_, at) =>
    JSON.stringify({ text: `entry ${at}`, pasted: [`${at}`] }),
  )
  await writeFile(box.file, `${lines.join('\n')}\n`)
  await readSentHistory(box.file)
  assert.deepEqual((await readSentHistory(box.file)).at(-1), { text: 'entry 1299', pasted: ['1299'] })
})

test('a torn line and an unknown line are skipped, and the next line starts on its own', async () => {
  await using box = await openBox()
  await appendSentHistory(box.file, typed('before'))
  await appendFile(box.file, '42\n{"text":7}\nnonsense\n{"text":"tor')
  await appendSentHistory(box.file, typed('after'))
  assert.deepEqual(toTexts(await readSentHistory(box.file)), ['before', 'after'])
})

test('a long history loses its oldest entries', async () => {
  await using box = await openBox()
  const lines = Array.from({ length: 1_300 }, (_, index) => JSON.stringify({ text: `entry ${index}` }))
  await writeFile(box.file, `${lines.join('\n')}\n`)
  const history = await readSentHistory(box.file)
  assert.deepEqual(
    [history.length, history[0]?.text, history.at(-1)?.text],
    [1_000, 'entry 300', 'entry 1299'],
  )
  assert.equal((await readFile(box.file, 'utf8')).split('\n').length, 1_001)
  assert.equal((await stat(box.file)).mode & 0o777, 0o600)
})

test('a large history is truncated to one mebibyte', async () => {
  await using box = await openBox()
  const lines = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({ text: `${index} `.padEnd(100_000, 'x') }),
  )
  await writeFile(box.file, `${lines.join('\n')}\n`)
  const history = await readSentHistory(box.file)
  assert.deepEqual([history.length, history.at(-1)?.text.slice(0, 3)], [10, '19 '])
  assert.ok((await stat(box.file)).size <= 1024 * 1024)
})

test('a text of more than 256 KiB is not stored', async () => {
  await using box = await openBox()
  await appendSentHistory(box.file, typed('x'.repeat(256 * 1024)))
  assert.deepEqual(await readSentHistory(box.file), [])
})

test('a home that cannot be written, and a history that is a folder, cause no error', async () => {
  await using box = await openBox()
  await mkdir(join(box.path, 'file'))
  await appendSentHistory(join(box.path, 'file'), typed('text'))
  assert.deepEqual(await readSentHistory(join(box.path, 'file')), [])
  await writeFile(box.file, '')
  await appendSentHistory(join(box.file, 'below', 'history'), typed('text'))
  assert.deepEqual(await readSentHistory(join(box.file, 'below', 'history')), [])
})

test('concurrent appends of several chats lose nothing', async () => {
  await using box = await openBox()
  const writers = ['a', 'b', 'c', 'd'].map((name) =>
    fork(join(import.meta.dirname, 'history-writer.ts'), [box.file, name, '50'], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    }),
  )
  await Promise.all(writers.map((writer) => once(writer, 'exit')))
  const expected = ['a', 'b', 'c', 'd'].flatMap((name) =>
    Array.from({ length: 50 }, (_, index) => `${name}${index}`),
  )
  assert.deepEqual(toTexts(await readSentHistory(box.file)).toSorted(), expected.toSorted())
})

function typed(text: string): SentText {
  return { text, pasted: [] }
}

function toTexts(sent: readonly SentText[]): string[] {
  return sent.map(({ text }) => text)
}

async function openBox() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  return Object.assign(folder, { file: join(folder.path, 'history') })
}
