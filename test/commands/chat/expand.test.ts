import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtempDisposable, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { expandMentions } from '../../../src/commands/chat/expand.ts'
import { withoutMentionedFiles } from '../../../src/core/base/mentioned-files.ts'

const NEVER = new AbortController().signal
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')
const A = '<file path="a.txt">\none\ntwo\nthree\n</file>'

/** A written message, and the parts that are appended to it. */
const MESSAGES: [string, string[]][] = [
  ['what is @a.txt about?', [A]],
  ['@a.txt', [A]],
  ['see @a.txt.', [A]],
  ['(@a.txt), then', [A]],
  ['@a.txt and @a.txt again', [A]],
  ['@a.txt:2', ['<file path="a.txt" lines="2-2">\ntwo\n</file>']],
  ['@a.txt:2-3.', ['<file path="a.txt" lines="2-3">\ntwo\nthree\n</file>']],
  ['@a.txt:2 @a.txt', ['<file path="a.txt" lines="2-2">\ntwo\n</file>', A]],
  ['@"a b.txt" too', ['<file path="a b.txt">\nblank\n</file>']],
  ['@"a b.txt":1-9', ['<file path="a b.txt" lines="1-9">\nblank\n</file>']],
  ['@~/a.txt', [A.replace('a.txt', '~/a.txt')]],
  ['@src', ['<folder path="src">\nb.ts\ninner/\n</folder>']],
  ['@src/', ['<folder path="src/">\nb.ts\ninner/\n</folder>']],
  ['@empty.txt', ['empty.txt is empty.']],
  ['mail user@a.txt', []],
  ['@decorator() on @types/node and @john.doe, user@host.md', []],
  ['@ and @@ and @"" and "@a.txt"', []],
]

test('files that a message names are appended', async () => {
  await using box = await openBox()
  for (const [text, blocks] of MESSAGES) {
    const content = [text, ...blocks].join('\n\n')
    assert.deepEqual(await box.expand(text), { content, attachments: [], problems: [] }, text)
    assert.equal(withoutMentionedFiles(content), text)
  }
})

test('withoutMentionedFiles() leaves files that a message does not name', () => {
  for (const text of ['about b.txt', '@b.txt and more', '@a.txt is empty.', 'one\n\ntwo is empty.']) {
    const content = `${text}\n\n${A}\n\nthe end`
    assert.equal(withoutMentionedFiles(content), content)
    assert.equal(withoutMentionedFiles(text), text)
  }
  assert.equal(withoutMentionedFiles(`about b.txt\n\n${A}`), `about b.txt\n\n${A}`)
})

test('an image is appended as an attachment', async () => {
  await using box = await openBox()
  const { content, attachments, problems } = await box.expand('what is on @src/inner/dot.png?')
  assert.equal(content, 'what is on @src/inner/dot.png?')
  assert.deepEqual(
    attachments.map((file) => ({ ...file, data: Buffer.from(file.data) })),
    [{ name: 'dot.png', mediaType: 'image/png', data: PNG }],
  )
  assert.deepEqual(problems, [])
})

/** Mentions that cannot be appended, and the message about them. */
const PROBLEMS: [string, RegExp][] = [
  ['@./nothing', /^Cannot add \.\/nothing: it does not exist$/],
  ['@src/nothing', /^Cannot add src\/nothing: it does not exist/],
  ['@"not there"', /^Cannot add not there: it does not exist/],
  ['@missing.md', /^Cannot add missing\.md: it does not exist/],
  ['@missing.md:3', /^Cannot add missing\.md: it does not exist/],
  ['@a.txt:9', /^Cannot add a\.txt: it has no line 9$/],
  ['@binary.bin', /^Cannot send binary\.bin as text: there is a NUL byte/],
  ['@pipe', /^Cannot add pipe: it is neither a file nor a directory$/],
  ['@huge.txt', /^Cannot send huge\.txt: its \d+ bytes are more than \d+ bytes, the limit$/],
  [
    '@half.txt @other-half.txt',
    /^Cannot send other-half\.txt together with the other files: its \d+ bytes are more than/,
  ],
]

test('mentions that cannot be appended are reported, and the rest is sent', async () => {
  await using box = await openBox()
  execFileSync('mkfifo', [join(box.path, 'pipe')])
  for (const [name, size] of [
    ['huge.txt', 2 ** 31],
    ['half.txt', 9_000_000],
    ['other-half.txt', 9_000_000],
  ] as const) {
    await writeFile(join(box.path, name), '')
    if (name === 'huge.txt') await truncate(join(box.path, name), size)
    else await writeFile(join(box.path, name), 'x'.repeat(size))
  }
  for (const [text, problem] of PROBLEMS) {
    const { content, problems } = await box.expand(text)
    assert.ok(content.startsWith(text))
    assert.equal(problems.length, 1, `${text}: ${problems}`)
    assert.match(problems[0]!, problem)
  }
})

test('a long folder is truncated', async () => {
  await using box = await openBox()
  await mkdir(join(box.path, 'many'))
  for (let index = 0; index < 203; index++) await writeFile(join(box.path, 'many', `${index}`), '')
  const { content } = await box.expand('@many')
  assert.match(content, /\n\[3 more\]\n<\/folder>$/)
})

test('mentions in pasted text are ignored', async () => {
  await using box = await openBox()
  const paste = 'a log\nof @a.txt and @./nothing\n'
  const { content, problems } = await box.expand(`see ${paste}and @"a b.txt"`, NEVER, [paste, '\n'])
  assert.equal(content, `see ${paste}and @"a b.txt"\n\n<file path="a b.txt">\nblank\n</file>`)
  assert.deepEqual(problems, [])
})

test('mentions in pasted text are ignored when the paste contains another one', async () => {
  await using box = await openBox()
  const inner = 'a log'
  const outer = `@a.txt of ${inner} of @src`
  const { content } = await box.expand(`${inner} ${outer}`, NEVER, [inner, outer])
  assert.equal(content, `${inner} ${outer}`)
})

test('only the first of very many mentions are read', async () => {
  await using box = await openBox()
  const { content, problems } = await box.expand(`@a.txt ${'@none.md '.repeat(300)}@src`)
  assert.ok(content.endsWith(A))
  assert.equal(problems.length, 199)
})

test('an abort fails', async () => {
  await using box = await openBox()
  await assert.rejects(box.expand('@a.txt', AbortSignal.abort()))
})

async function openBox() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const at = (path: string) => join(folder.path, path)
  await mkdir(at('src/inner'), { recursive: true })
  await writeFile(at('a.txt'), 'one\ntwo\nthree\n')
  await writeFile(at('a b.txt'), 'blank')
  await writeFile(at('empty.txt'), '')
  await writeFile(at('binary.bin'), 'a\0b')
  await writeFile(at('src/b.ts'), 'b')
  await writeFile(at('src/inner/dot.png'), PNG)
  const place = { cwd: folder.path, home: folder.path }
  return Object.assign(folder, {
    expand: (text: string, signal = NEVER, pasted: string[] = []) =>
      expandMentions({ text, pasted }, place, signal),
  })
}
