import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { MAX_INPUT_BYTES } from '../../../src/cli/named-file.ts'
import { type Input, readInput } from '../../../src/commands/send/input.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { MAX_FRAME_BYTES } from '../../../src/core/protocol/frame.ts'
import { openFifo } from '../../support/fifo.ts'
import { parseSendSettings } from '../../support/send-settings.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')

type Stdin = NonNullable<TestHostOptions['stdin']>

/** The files of every test here. */
const FILES: Record<string, string | Uint8Array> = {
  'a.txt': 'A\n',
  'b.txt': 'B',
  'empty.txt': '',
  'bom.txt': '\ufeffwith a mark',
  'latin1.txt': Buffer.from('caf\xe9', 'latin1'),
  'nul.bin': 'a\0b',
  'dot.png': PNG,
  'dot.jpg': Buffer.from('ffd8ffe0', 'hex'),
  'dot.gif': 'GIF89a..',
  'old.gif': 'GIF87a..',
  'sound.wav': 'RIFF....WAVEfmt ',
  'dot.webp': 'RIFF....WEBPVP8 ',
}

/** Arguments, standard input, and the resulting message. */
const MESSAGES: [string[], Stdin, string][] = [
  [['one', 'two  words', '*'], 'none', 'one two  words *'],
  [['hi'], 'terminal', 'hi'],
  [['hi'], '', 'hi'],
  [['hi'], 'data\n', 'hi\n\n<stdin>\ndata\n</stdin>'],
  [['hi'], 'data', 'hi\n\n<stdin>\ndata\n</stdin>'],
  [['hi'], 'data\n\n', 'hi\n\n<stdin>\ndata\n\n</stdin>'],
  [['hi'], '\n', 'hi'],
  [['hi', '--no-stdin'], 'data\n', 'hi'],
  [[], 'data \n\n', 'data \n\n'],
  [[], '\ufeffdata', '\ufeffdata'],
  [['-'], 'data\n', 'data\n'],
  [['before', '-', 'after'], 'data\n', 'before\n\n<stdin>\ndata\n</stdin>\n\nafter'],
  [['-', 'after'], 'data\n', '<stdin>\ndata\n</stdin>\n\nafter'],
  [['before', '-'], 'none', 'before'],
  [['-f', 'a.txt', 'hi'], 'none', 'hi\n\n<file path="a.txt">\nA\n</file>'],
  [['-f', 'a.txt'], 'none', '<file path="a.txt">\nA\n</file>'],
  [
    ['-f', 'b.txt', 'hi', '-f', './a.txt'],
    'data',
    'hi\n\n<file path="b.txt">\nB\n</file>\n\n<file path="./a.txt">\nA\n</file>\n\n<stdin>\ndata\n</stdin>',
  ],
  [['hi', '-f', 'empty.txt'], 'none', 'hi'],
  [['hi', '-f', 'bom.txt'], 'none', 'hi\n\n<file path="bom.txt">\n\ufeffwith a mark\n</file>'],
  [['--', '--not', '-an', 'option'], 'none', '--not -an option'],
]

for (const [argv, stdin, content] of MESSAGES) {
  test(`readInput() joins ${JSON.stringify(argv)} and ${JSON.stringify(stdin)}`, async () => {
    assert.deepEqual(await inputOf(argv, { stdin }), { content, attachments: [] })
  })
}

test('readInput() attaches images that are named, given as files or piped', async () => {
  const { content, attachments } = await inputOf(
    ['what?', '-i', 'dot.jpg', '-f', 'dot.gif', '-i', 'old.gif', '-f', 'a.txt', '-i', 'dot.webp'],
    {
      stdin: PNG,
    },
  )
  assert.equal(content, 'what?\n\n<file path="a.txt">\nA\n</file>')
  assert.deepEqual(
    attachments.map(({ mediaType, name }) => [mediaType, name]),
    [
      ['image/jpeg', 'dot.jpg'],
      ['image/gif', 'old.gif'],
      ['image/webp', 'dot.webp'],
      ['image/gif', 'dot.gif'],
      ['image/png', ''],
    ],
  )
  assert.deepEqual(attachments.at(-1)?.data, PNG)
  assert.deepEqual((await inputOf([], { stdin: PNG })).attachments.length, 1)
})

/** Invalid input, and how a command given it ends. */
const REFUSED: [string[], Stdin, string, RegExp][] = [
  [[], 'terminal', 'usage', /there is no prompt/],
  [[], 'none', 'usage', /there is no prompt/],
  [[], '', 'usage', /there is no prompt/],
  [[], ' \n', 'usage', /there is no prompt/],
  [[''], 'none', 'usage', /there is no prompt/],
  [['-'], 'none', 'usage', /there is no prompt/],
  [['-f', 'empty.txt'], 'none', 'usage', /there is no prompt/],
  [['hi'], 'a\0b', 'invalid', /standard input as text: there is a NUL byte at offset 1/],
  [['hi'], Buffer.from([0xff, 0xfe]), 'invalid', /standard input as text: it is not valid UTF-8/],
  [['-f', 'latin1.txt'], 'none', 'invalid', /latin1\.txt as text: it is not valid UTF-8/],
  [['-f', 'nul.bin'], 'none', 'invalid', /nul\.bin as text: there is a NUL byte/],
  [['-f', 'none.txt'], 'none', 'no-input', /Cannot read none\.txt: it does not exist/],
  [['-f', 'a.txt/b'], 'none', 'no-input', /it does not exist/],
  [['-f', 'folder'], 'none', 'no-input', /folder: it is a directory/],
  [['-i', 'a.txt'], 'none', 'invalid', /a\.txt: it is not a PNG, JPEG, GIF or WebP image/],
  [['-i', 'sound.wav'], 'none', 'invalid', /sound\.wav: it is not a PNG/],
  [['-i', 'none.png'], 'none', 'no-input', /it does not exist/],
]

for (const [argv, stdin, kind, message] of REFUSED) {
  test(`readInput() rejects ${JSON.stringify(argv)} and ${JSON.stringify(stdin)} with ${kind}`, async () => {
    await assert.rejects(inputOf(argv, { stdin }), { name: 'CrabError', kind, message })
  })
}

test('readInput() rejects more than a message can contain, and stops reading', async () => {
  let pieces = 0
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1024 * 1024, pieces++ % 10)
    })(),
  )
  await assert.rejects(inputOf(['hi'], { stdin: endless }), {
    kind: 'invalid',
    message: /larger than 15728640 bytes/,
  })
  assert.ok(pieces < 40)
})

test('readInput() leaves space in a frame for the rest of the message, whatever the input consists of', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const million = join(folder.path, 'million.txt')
  const image = join(folder.path, 'half.png')
  await writeFile(million, 'm'.repeat(1_000_000))
  await writeFile(image, Buffer.concat([PNG, Buffer.alloc(7_500_000)]))
  const half = 'x'.repeat(7_500_000)
  const parts: [string[], TestHostOptions][] = [
    [[half], { stdin: half }],
    [['-i', image], { stdin: half }],
    [['--system', half], { stdin: half }],
    [['--schema', `{"a":"${half}"}`], { stdin: half }],
  ]
  for (const [argv, options] of parts) {
    await assert.doesNotReject(inputOf(argv, options))
    await assert.rejects(inputOf([...argv, '-f', million], options), {
      kind: 'invalid',
      message: /^Cannot send all of this: its 160\d{5} bytes are more than 15728640 bytes, the limit$/,
    })
  }
  assert.ok(MAX_INPUT_BYTES + 1024 * 1024 <= MAX_FRAME_BYTES)
})

for (const option of ['-f', '-i']) {
  test(`readInput() ends immediately when it is cancelled, however long the pipe of ${option} stays silent`, async () => {
    using fifo = openFifo()
    const stop = new AbortController()
    const reading = inputOf([option, `/dev/fd/${fifo.output}`, 'hi'], {}, stop.signal)
    stop.abort(new CrabError('timeout', 'Too long'))
    await assert.rejects(reading, { kind: 'timeout', message: 'Too long' })
  })
}

test('readInput() says what it waits for, and gives up on a silent pipe', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ stdin: new PassThrough() })
  const settings = await parseSendSettings(['hi'], at.host)
  const reading = readInput(settings, at.host, NEVER)
  await someTurns()
  context.mock.timers.tick(1_999)
  await at.host.stderr.flush()
  assert.equal(at.stderr(), '')
  context.mock.timers.tick(1)
  await at.host.stderr.flush()
  assert.equal(at.stderr(), 'crabtalk: waiting for standard input (--no-stdin ignores it)\n')
  context.mock.timers.tick(28_000)
  await assert.rejects(reading, {
    kind: 'no-input',
    message: 'Cannot read standard input: the pipe sent nothing for 30 s',
    hint: /--no-stdin/,
  })
  assert.equal((at.host.stdin() as PassThrough).destroyed, true)
})

test('readInput() waits without a limit for the rest of a pipe that has started sending', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const stdin = new PassThrough()
  await using at = await makeTestHost({ stdin })
  const reading = readInput(await parseSendSettings(['hi', '-q'], at.host), at.host, NEVER)
  stdin.write('one ')
  await someTurns()
  context.mock.timers.tick(600_000)
  stdin.end('two')
  assert.match((await reading).content, /one two/)
  assert.equal(at.stderr(), '')
})

test('readInput() ends immediately when it is cancelled', async () => {
  const stdin = new PassThrough()
  const stop = new AbortController()
  const reading = inputOf(['hi'], { stdin }, stop.signal)
  await until('the pipe is read', () => stdin.listenerCount('readable') + stdin.listenerCount('data') > 0)
  stop.abort()
  await assert.rejects(reading, { name: 'AbortError' })
  assert.equal(stdin.destroyed, true)
})

/** Lets all pending promises settle. */
async function someTurns(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
}

async function inputOf(argv: readonly string[], options: TestHostOptions, signal = NEVER): Promise<Input> {
  await using at = await makeTestHost(options)
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(at.folder, name), content)
  await mkdir(join(at.folder, 'folder'))
  return await readInput(await parseSendSettings(argv, at.host), at.host, signal)
}
