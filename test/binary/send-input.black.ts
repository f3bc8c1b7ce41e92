import assert from 'node:assert/strict'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedRequest } from '../support/model-server.ts'
import { assertFailed, configWithFacts, lastPrompt, makeTalk, type Talk } from '../support/talk.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const LIMIT = 15 * 1024 * 1024

test('arguments are joined by one space and never quoted', async () => {
  await using talk = await makeEcholess()
  assert.equal(await prompt(talk, ['two  words', "it's", '"quoted"']), `two  words it's "quoted"`)
  assert.equal(await prompt(talk, ['--', '--flag', '-x']), '--flag -x')
})

test('one trailing newline of standard input is removed, and nothing else changes', async () => {
  await using talk = await makeEcholess()
  const odd = '\ufeff\r\n\ttab \u001b[31m \u2028 \u{1f980}\u0301</stdin>\n\n\n'
  assert.equal(await prompt(talk, ['p'], odd), `p\n\n<stdin>\n${odd.slice(0, -1)}\n</stdin>`)
  assert.equal(await prompt(talk, [], odd), odd)
  const long = 'x'.repeat(100_000)
  assert.equal(await prompt(talk, [], long), long)
})

test('a lone dash marks where standard input is inserted', async () => {
  await using talk = await makeEcholess()
  assert.equal(
    await prompt(talk, ['before', '-', 'after'], 'data\n'),
    'before\n\n<stdin>\ndata\n</stdin>\n\nafter',
  )
  assert.equal(await prompt(talk, ['-'], 'data\n'), 'data\n')
  assert.equal(await prompt(talk, ['-', 'after'], 'data\n'), '<stdin>\ndata\n</stdin>\n\nafter')
})

test('--file appends files after the prompt, with their names as given', async () => {
  await using talk = await makeEcholess()
  await mkdir(join(talk.cwd, 'sub dir'))
  await writeFile(join(talk.cwd, 'a.txt'), 'A\n')
  await writeFile(join(talk.cwd, 'sub dir/b.txt'), 'B')
  assert.equal(
    await prompt(talk, ['-f', 'a.txt', '-f', 'sub dir/b.txt', 'p'], 'data'),
    'p\n\n<file path="a.txt">\nA\n</file>\n\n<file path="sub dir/b.txt">\nB\n</file>\n\n<stdin>\ndata\n</stdin>',
  )
  assert.equal(await prompt(talk, ['--file=a.txt']), '<file path="a.txt">\nA\n</file>')
  await talk.shell('printf C | crabtalk send -f /dev/stdin --no-stdin p')
  assert.equal(lastPrompt(talk.server.requests.at(-1)), 'p\n\n<file path="/dev/stdin">\nC\n</file>')
})

test('a file that cannot be read exits 66, before anything is sent', async () => {
  await using talk = await makeEcholess()
  assertFailed(await talk.send(['-f', 'nosuch', 'p']), 'no-input', {
    message: /^Cannot read nosuch: it does not exist$/,
  })
  assertFailed(await talk.send(['-f', '.', 'p']), 'no-input', {
    message: /^Cannot read \.: it is a directory$/,
  })
  assertFailed(await talk.send(['-i', 'nosuch', 'p']), 'no-input', { message: /^Cannot read nosuch: / })
  assert.equal(talk.server.requests.length, 0)
})

test('NUL and invalid UTF-8 exit 65, wherever they come from', async () => {
  await using talk = await makeEcholess()
  const bad = [
    [Buffer.from('abc\0def'), /there is a NUL byte at offset 3$/],
    [Buffer.from([0x61, 0xff, 0x62]), /it is not valid UTF-8$/],
    [Buffer.from([0xe2, 0x82]), /it is not valid UTF-8$/],
  ] as const
  for (const [bytes, message] of bad) {
    assertFailed(await talk.send(['p'], { stdin: bytes }), 'invalid', { message, hint: /iconv/ })
    await writeFile(join(talk.cwd, 'bad'), bytes)
    assertFailed(await talk.send(['-f', 'bad', 'p']), 'invalid', { message, hint: /iconv/ })
    assertFailed(await talk.send(['--system', '@bad', 'p']), 'invalid', { message })
  }
  assert.equal(talk.server.requests.length, 0)
})

test('an image is attached from standard input, --image and --file', async () => {
  await using talk = await makeEcholess()
  await writeFile(join(talk.cwd, 'dot.png'), PNG)
  await writeFile(join(talk.cwd, 'text.txt'), 'words')
  const ways: [string[], Buffer?][] = [[['see'], PNG], [['-i', 'dot.png', 'see']], [['-f', 'dot.png', 'see']]]
  for (const [args, stdin] of ways) {
    assert.equal(await prompt(talk, args, stdin), 'see')
    assert.deepEqual(findImages(talk.server.requests.at(-1)), [
      `data:image/png;base64,${PNG.toString('base64')}`,
    ])
  }
  assert.equal((await talk.send([], { stdin: PNG })).code, 0)
  assertFailed(await talk.send(['-i', 'text.txt', 'see']), 'invalid', {
    message: /it is not a PNG, JPEG, GIF or WebP image$/,
    hint: /-f/,
  })
})

test('input is limited to exactly 15 MiB, from a pipe, a file, an argument or all of them together', async () => {
  await using talk = await makeEcholess()
  const whole = Buffer.alloc(LIMIT, 'x')
  assert.equal((await prompt(talk, [], whole)).length, LIMIT)
  const more = Buffer.alloc(LIMIT + 1, 'x')
  assertFailed(await talk.send([], { stdin: more }), 'invalid', { message: /15728640 bytes/ })
  assertFailed(await talk.send(['p'], { stdin: whole }), 'invalid', { message: /more than 15728640 bytes/ })
  await writeFile(join(talk.cwd, 'large'), '')
  await truncate(join(talk.cwd, 'large'), 3 * 1024 ** 3)
  assertFailed(await talk.shell('crabtalk send <large'), 'invalid', { message: /15728640 bytes/ })
  assertFailed(await talk.send(['-f', 'large', 'p']), 'invalid', { message: /^Cannot send large: / })
  assertFailed(await talk.send(['-f', '/dev/zero', 'p']), 'invalid', {
    message: /^Cannot send \/dev\/zero: /,
  })
})

test("input larger than the model's limit exits 65 with the sizes, or is truncated with --truncate", async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }), configWithFacts('context = 10000'))
  const stdin = `HEAD${'x'.repeat(100_000)}TAIL`
  assertFailed(await talk.send([], { stdin }), 'invalid', {
    message: /^Cannot send 100008 characters: scripted takes 10000 tokens$/,
    hint: /--truncate head, tail or middle/,
  })
  const cuts: Record<string, RegExp> = {
    head: /^\[\d+ characters were cut\]\nx+TAIL$/,
    tail: /^HEADx+\n\[\d+ characters were cut\]$/,
    middle: /^HEADx+\n\[\d+ characters were cut\]\nx+TAIL$/,
  }
  for (const [where, shape] of Object.entries(cuts)) {
    const cut = await prompt(talk, ['--truncate', where], stdin)
    assert.match(cut, shape)
    const missing = Number(/\[(\d+) characters/.exec(cut)?.[1])
    assert.equal(cut.replace(/\n?\[\d+ characters were cut\]\n?/, '').length, stdin.length - missing)
  }
})

function makeEcholess(): Promise<Talk> {
  return makeTalk(() => ({ parts: ['ok'] }))
}

/** Sends, and returns the prompt that the server received. */
async function prompt(talk: Talk, args: readonly string[], stdin?: string | Uint8Array): Promise<string> {
  const { stdout, stderr, code } = await talk.send(args, stdin === undefined ? {} : { stdin })
  assert.deepEqual([stdout, stderr, code], ['ok\n', '', 0])
  return lastPrompt(talk.server.requests.at(-1))
}

function findImages(request: RecordedRequest | undefined): string[] {
  const messages = request?.json['messages'] as { content: { image_url?: { url: string } }[] }[] | undefined
  return (messages?.at(-1)?.content ?? []).flatMap((part) => part.image_url?.url ?? [])
}
