import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toToolOutput } from '../../../src/mcp/tools/results.ts'
import { CONTENTS } from '../../support/mcp/good-tools.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\nabcd', 'latin1').toString('base64')
const SPILL = { server: 's', tool: 't', folder: '/nowhere' }

const OUTPUTS: Record<string, [unknown, string]> = {
  text: [{ content: [text('a'), text('b')] }, 'a\nb'],
  'no content': [{ content: [] }, '[no content]'],
  'a link': [
    { content: CONTENTS['resource_link'] },
    '[link to file:///notes/today.md: today.md, text/markdown]',
  ],
  'an embedded text': [{ content: CONTENTS['embedded_text'] }, '[file:///notes/today.md]\n# Today\n'],
  'structured content alone': [{ structuredContent: { a: 1 } }, '{"a":1}'],
  'structured content with an empty list': [{ content: [], structuredContent: [1] }, '[1]'],
  'structured content that repeats the text': [
    { content: [text('{"a": 1}')], structuredContent: { a: 1 } },
    '{"a": 1}',
  ],
  'structured content that is the text under a name': [
    { content: [text('hello\n')], structuredContent: { result: 'hello' } },
    'hello\n',
  ],
  'structured content that is the texts in a list': [
    { content: [text('a'), text('{"b":2}')], structuredContent: { result: ['a', { b: 2 }] } },
    'a\n{"b":2}',
  ],
  'structured content that is a number in words': [
    { content: [text('5')], structuredContent: { result: 5 } },
    '5',
  ],
  'structured content that says more': [
    { content: [text('warm')], structuredContent: { degrees: 21, sky: 'mild' } },
    'warm\n{"degrees":21,"sky":"mild"}',
  ],
  'structured content that has the text among others': [
    { content: [text('All is well.')], structuredContent: { answer: 'All is well.', conversation: 'c1' } },
    'All is well.\n{"conversation":"c1"}',
  ],
  'structured content that has the text twice': [
    { content: [text('EUR')], structuredContent: { from: 'EUR', as: 'EUR', rate: 1 } },
    'EUR\n{"from":"EUR","as":"EUR","rate":1}',
  ],
  'structured content that has the figure of the text among others': [
    { content: [text('5')], structuredContent: { found: 5, of: 9 } },
    '5\n{"found":5,"of":9}',
  ],
  'an unknown kind of content': [
    { content: [text('good'), { type: 'hologram\u001b[2J', data: 'x' }, text('too')] },
    'good\n[content left out: its type is "hologram"]\ntoo',
  ],
  'malformed content': [
    { content: [text('good'), { type: 'image' }, 'bare', null, { type: 'text', text: 7 }, {}] },
    [
      'good',
      '[content left out: its type is "image"]',
      '[content left out: it is not an object]',
      '[content left out: it is not an object]',
      '[content left out: its type is "text"]',
      '[content left out: it has no type]',
    ].join('\n'),
  ],
  'content that is a text': [{ content: 'bare' }, 'bare'],
  'no known shape': [{ answer: 42, _meta: { x: 1 } }, '{"answer":42}'],
  'nothing but meta': [{ _meta: { x: 1 } }, '[no content]'],
  'half a character': [{ content: [text('a\ud83d')] }, 'a\ufffd'],
  'data that is not base64': [
    { content: [{ type: 'image', mimeType: 'image/png', data: '<svg>' }] },
    '[content left out: image, image/png: its data is not base64]',
  ],
}
for (const [what, [result, output]] of Object.entries(OUTPUTS)) {
  test(`toToolOutput() converts ${what}`, async () => {
    assert.deepEqual(await toToolOutput(result, { limitBytes: 1_000, spill: SPILL }), {
      output,
      isError: false,
    })
  })
}

test('toToolOutput() attaches a file of any kind for the user', async () => {
  const resource = { uri: 'demo://a', mimeType: 'text/plain', blob: Buffer.from('hello').toString('base64') }
  const result = { content: [{ type: 'resource', resource }] }
  assert.deepEqual(await toToolOutput(result, { limitBytes: 1_000, spill: SPILL, attachesAll: true }), {
    output: '[demo://a, text/plain, attached]',
    isError: false,
    attachments: [{ media_type: 'text/plain', data: resource.blob }],
  })
})

test('toToolOutput() keeps the failure of a tool', async () => {
  const result = { content: [text('no')], isError: true }
  assert.deepEqual(await toToolOutput(result, { limitBytes: 9, spill: SPILL }), {
    output: 'no',
    isError: true,
  })
})

test('toToolOutput() attaches images and audio, and also keeps audio in a file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const result = { content: CONTENTS['mixed'] }
  const spill = { ...SPILL, folder: folder.path }
  const { output, attachments } = await toToolOutput(result, { limitBytes: 1_000, spill })
  assert.deepEqual(
    attachments?.map(({ media_type }) => media_type),
    ['image/png', 'audio/wav'],
  )
  assert.match(
    output,
    /^beside it\n\[image, image\/png, attached\]\n\[audio, audio\/wav, attached; the full content is in \S+\.wav\]\n/,
  )
})

test('toToolOutput() removes line breaks from base64, and parameters from a media type', async () => {
  const content = [
    { type: 'image', mimeType: 'IMAGE/PNG; q=1', data: `${PNG.slice(0, 8)}\n${PNG.slice(8)}\r\n` },
  ]
  const { attachments } = await toToolOutput({ content }, { limitBytes: 1_000, spill: SPILL })
  assert.deepEqual(attachments, [{ media_type: 'image/png', data: PNG }])
})

test('toToolOutput() puts what models do not accept into a file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const blob = Buffer.from('%PDF-1.7').toString('base64')
  const content = [
    { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob } },
  ]
  const spill = { server: 's', tool: 'read/file ../../x', folder: join(folder.path, 'spill') }
  const { output, attachments } = await toToolOutput({ content }, { limitBytes: 1_000, spill })
  const [, path] = /^\[file:\/\/\/a\.pdf, application\/pdf, 8 bytes; the full content is in (.*)\]$/.exec(
    output,
  )!
  assert.equal(await readFile(path!, 'utf8'), '%PDF-1.7')
  assert.match(path!, /spill\/s-read_file_______x-[0-9A-Z]{26}\.pdf$/)
  assert.equal((await stat(path!)).mode & 0o777, 0o600)
  assert.equal(attachments, undefined)
})

test('toToolOutput() puts an image that is too large for models into a file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const content = [{ type: 'image', mimeType: 'image/png', data: makePng(6_000_000) }]
  const result = await toToolOutput(
    { content },
    { limitBytes: 1_000, spill: { ...SPILL, folder: folder.path } },
  )
  assert.match(result.output, /^\[image, image\/png, 6000000 bytes; the full content is in .*\.png\]$/)
  assert.equal(result.attachments, undefined)
  assert.equal((await readdir(folder.path)).length, 1)
})

test('toToolOutput() cuts between characters, and says when the whole could not be kept', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(folder.path, 'file')
  await writeFile(file, '')
  const result = { content: [text('é'.repeat(600))] }
  const { output } = await toToolOutput(result, { limitBytes: 999, spill: { ...SPILL, folder: file } })
  const [shown, note] = output.split('\n')
  assert.equal(shown, 'é'.repeat(499))
  assert.match(
    note!,
    /^\[Cut: 1200 bytes in all, the first 998 are above; the rest is lost: Cannot create .*\]$/,
  )
})

test('toToolOutput() survives values nested deeper than recursion allows', async () => {
  let deep: object = {}
  for (let depth = 0; depth < 200_000; depth++) deep = { 0: deep } // the runtime writes other keys without recursion
  const { output } = await toToolOutput(
    { content: [text('ok')], structuredContent: deep },
    { limitBytes: 1_000, spill: SPILL },
  )
  assert.equal(output, 'ok\n[structured content left out: it is nested too deep]')
})

test('toToolOutput() attaches content by its real type, not the one its server declares', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const html = Buffer.from('<html>').toString('base64')
  const content = [
    { type: 'image', mimeType: 'image/jpeg', data: PNG },
    { type: 'image', mimeType: 'image/png', data: html },
    { type: 'audio', mimeType: 'audio/wav', data: html },
  ]
  const spill = { ...SPILL, folder: folder.path }
  const { output, attachments } = await toToolOutput({ content }, { limitBytes: 1_000, spill })
  assert.deepEqual(attachments, [{ media_type: 'image/png', data: PNG }])
  assert.match(
    output,
    /^\[image, image\/png, attached\]\n\[image, image\/png, 6 bytes; .*\.png\]\n\[audio, audio\/wav, 6 bytes; .*\]$/,
  )
})

test('toToolOutput() attaches at most 5 MB to an answer, and puts the rest into files', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const image = { type: 'image', mimeType: 'image/png', data: makePng(2_000_000) }
  const spill = { ...SPILL, folder: folder.path }
  const content = [image, image, image, { ...image, data: PNG }]
  const { output, attachments } = await toToolOutput({ content }, { limitBytes: 1_000, spill })
  assert.equal(attachments?.length, 3)
  assert.match(
    output,
    /attached\]\n\[image, image\/png, 2000000 bytes, too much to attach with the rest; .*\]\n.*attached/,
  )
  assert.equal((await readdir(folder.path)).length, 1)
})

/** Returns a PNG of this size; only its first bytes are valid. */
function makePng(bytes: number): string {
  const data = Buffer.alloc(bytes)
  data.write('\x89PNG\r\n\x1a\n', 'latin1')
  return data.toString('base64')
}

function text(words: string): object {
  return { type: 'text', text: words }
}
