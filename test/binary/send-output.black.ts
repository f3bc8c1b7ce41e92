import assert from 'node:assert/strict'
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Script } from '../support/model-server.ts'
import { assertFailed, makeTalk, shortConfig } from '../support/talk.ts'

/** Two steps: a text, a call of `read`, and another text. */
const TWO_STEPS: Script = ({ json }) =>
  (json['messages'] as { role: string }[]).at(-1)?.role === 'tool'
    ? { parts: ['The ', 'answer.'], usage: { input: 10, output: 3 } }
    : { parts: ['Let me look.', { call: 'c1', name: 'read', args: '{"path":"a.txt"}' }] }

test('standard output is the answer of an OpenAI or Anthropic server, byte for byte', async () => {
  const anthropic = (url: string) =>
    `[[providers]]\nname = "a"\nkind = "anthropic"\napi_key = "sk-1"\nbase_url = "${url}"\nmodels = ["scripted"]\n`
  for (const config of [shortConfig, anthropic]) {
    await using talk = await makeTalk(() => ({ parts: ['pinned: ', 'ms 2.1.3', '\n', '\u{1f980}é'] }), config)
    await writeFile(join(talk.cwd, 'package.json'), '{"name":"x"}\n')
    const script = 'cat package.json | crabtalk send "Which dependencies are pinned?"'
    const { stdout, stderr, code } = await talk.shell(script)
    assert.deepEqual([stdout, stderr, code], ['pinned: ms 2.1.3\n\u{1f980}é\n', '', 0])
    const [request, ...more] = talk.server.requests
    assert.deepEqual(more, [])
    assert.equal(request?.path, config === anthropic ? '/v1/messages' : '/v1/chat/completions')
    assert.ok(request.text.includes('Which dependencies are pinned?'))
    assert.ok(request.text.includes(JSON.stringify('<stdin>\n{"name":"x"}\n</stdin>').slice(1, -1)))
  }
})

test('the first bytes are printed while the model is still streaming, also through a pipe', async () => {
  const { promise: firstByteSeen, resolve: goOn } = Promise.withResolvers<void>()
  await using talk = await makeTalk([{ parts: ['first', firstByteSeen, ' last'] }])
  const running = talk.startSend(['hello'])
  await running.prints(/^first$/)
  goOn()
  const { stdout, code } = await running.finished
  assert.deepEqual([stdout, code], ['first last\n', 0])
})

test('a final newline is added only when it is missing, and an empty answer prints nothing', async () => {
  const answers = [['text'], ['text\n'], ['text\n\n'], ['text', '\r\n'], ['\n text'], []]
  await using talk = await makeTalk((_, index) => ({ parts: answers[index] ?? [] }))
  const printed = ['text\n', 'text\n', 'text\n\n', 'text\r\n', '\n text\n', '']
  for (const text of printed) assert.equal((await talk.send(['hello'])).stdout, text)
})

test('the texts of several steps are separated by a blank line; --last prints the final one', async () => {
  await using talk = await makeTalk(TWO_STEPS)
  await writeFile(join(talk.cwd, 'a.txt'), 'content\n')
  const whole = 'Let me look.\n\nThe answer.\n'
  for (const args of [[], ['--buffer']]) {
    const { stdout, stderr } = await talk.send([...args, 'hello'])
    assert.deepEqual([stdout, stderr], [whole, ''])
  }
  assert.equal((await talk.send(['--last', 'hello'])).stdout, 'The answer.\n')
})

test('--buffer and --last print nothing of an answer that fails; without them its text is printed', async () => {
  await using talk = await makeTalk(() => ({ parts: ['half'], end: 'cut' }))
  const failure = { message: /the answer ended early$/ }
  assertFailed(await talk.send(['hello']), 'unavailable', { ...failure, stdout: 'half\n' })
  assertFailed(await talk.send(['--buffer', 'hello']), 'unavailable', failure)
  assertFailed(await talk.send(['--last', 'hello']), 'unavailable', failure)
})

test('-v prints a line per tool call on standard error, -vv every event, -q nothing', async () => {
  await using talk = await makeTalk(TWO_STEPS)
  await writeFile(join(talk.cwd, 'a.txt'), 'content\n')
  assert.match((await talk.send(['-v', 'hello'])).stderr, /^✓ read a\.txt · \d+ ms\n$/)
  const { stdout, stderr } = await talk.send(['-vv', 'hello'])
  assert.equal(stdout, 'Let me look.\n\nThe answer.\n')
  for (const event of ['start', 'toolStart', 'toolResult', 'contextUsage', 'end']) {
    assert.match(stderr, new RegExp(`^${event} \\{.*\\}$`, 'm'))
  }
  assert.equal((await talk.send(['-q', 'hello'])).stderr, '')
})

test('--thinking prints the thinking on standard error, and standard output stays the answer', async () => {
  await using talk = await makeTalk(() => ({ parts: [{ thinking: 'Hm. \u001b[2J' }, 'Yes.'] }))
  const { stdout, stderr } = await talk.send(['--thinking', 'hello'])
  assert.deepEqual([stdout, stderr], ['Yes.\n', 'Hm. \n'])
  assert.equal((await talk.send(['hello'])).stderr, '')
})

test('--out-file is written whole, on success only, and standard output stays empty', async () => {
  const replies = [{ parts: ['new'] }, { parts: ['half'], end: 'cut' as const }]
  await using talk = await makeTalk((_, index) => replies[index] ?? {})
  const file = join(talk.cwd, 'out.txt')
  await writeFile(file, 'old\n')
  await chmod(file, 0o640)
  const { stdout, stderr, code } = await talk.send(['-O', 'out.txt', 'hello'])
  assert.deepEqual([stdout, stderr, code, await readFile(file, 'utf8')], ['', '', 0, 'new\n'])
  assert.equal((await stat(file)).mode & 0o777, 0o640)
  assertFailed(await talk.send(['-O', 'out.txt', 'hello']), 'unavailable', {
    message: /ended early/,
  })
  assert.equal(await readFile(file, 'utf8'), 'new\n')
  assert.deepEqual(await readdir(talk.cwd), ['out.txt'])
})

test('--out-file follows links and never replaces anything but a regular file', async () => {
  await using talk = await makeTalk(() => ({ parts: ['new'] }))
  await writeFile(join(talk.cwd, 'target'), 'old')
  await symlink('target', join(talk.cwd, 'link'))
  assert.equal((await talk.send(['-O', 'link', 'hello'])).code, 0)
  assert.equal(await readFile(join(talk.cwd, 'target'), 'utf8'), 'new\n')
  assert.ok((await lstat(join(talk.cwd, 'link'))).isSymbolicLink())
  const { stdout } = await talk.shell(
    'mkfifo fifo; cat fifo & crabtalk send -O fifo hello; wait; test -p fifo',
  )
  assert.equal(stdout, 'new\n')
  assert.equal((await talk.shell('crabtalk send -O /dev/stdout hello | cat')).stdout, 'new\n')
})

test('an --out-file that cannot be written fails before the model is called', async () => {
  await using talk = await makeTalk(() => ({ parts: ['new'] }))
  await mkdir(join(talk.cwd, 'folder'))
  const args = {
    nosuch: /^Cannot write nosuch\/out: the directory does not exist$/,
    folder: /it is a directory$/,
  }
  assertFailed(await talk.send(['-O', 'nosuch/out', 'hello']), 'storage', { message: args.nosuch })
  assertFailed(await talk.send(['-O', 'folder', 'hello']), 'storage', { message: args.folder })
  assert.equal(talk.server.requests.length, 0)
})

test('standard output that cannot be written is reported as a failure', async () => {
  await using talk = await makeTalk(() => ({ parts: ['text'] }))
  assertFailed(await talk.shell('crabtalk send hello >/dev/full'), 'storage', {
    message: /^Cannot write the output: .*no space/,
  })
})
