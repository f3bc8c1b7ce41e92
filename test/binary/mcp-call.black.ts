import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  goodAnswer,
  type Play,
  scriptedServer,
  sendEvent,
  startStream,
} from '../support/mcp/http/scripted-server.ts'
import {
  entriesToml,
  everythingEntry,
  filesystemEntry,
  misbehavingEntry,
  type StdioEntry,
  watchedServer,
} from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk } from '../support/talk.ts'

const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

test('mcp call prints the text of a result and accepts every form of arguments', async () => {
  await using box = await boxWith(everythingEntry())
  const sum = (...words: string[]) => ['mcp', 'call', 'everything', 'get-sum', ...words]
  const runs = [
    await box.run(sum('a=2', 'b=3')),
    await box.run(sum('{"a": 2, "b": 3}')),
    await box.run(sum('-'), { stdin: '{"a": 2, "b": 3}' }),
  ]
  for (const { stdout, stderr, code } of runs) {
    assert.match(stdout, /^The sum of 2 and 3 is 5\.?\n$/)
    assert.deepEqual([stderr, code], ['', 0])
  }
})

test('mcp call of a real file server reads a file', async () => {
  await using box = await makeSandbox()
  await writeFile(join(box.cwd, 'notes.md'), 'Buy milk.\n')
  await writeAgent(box, filesystemEntry([box.cwd]))
  const path = join(box.cwd, 'notes.md')
  const { stdout, stderr, code } = await box.run(['mcp', 'call', 'fs', 'read_text_file', `path=${path}`])
  assert.match(stdout, /^Buy milk\.\n/)
  assert.deepEqual([stderr, code], ['', 0])
})

test('mcp call --json prints the whole result, and failures as well', async () => {
  await using box = await boxWith(misbehavingEntry())
  const good = await box.run(['mcp', 'call', 'misbehaving', 'mixed', '--json'])
  const result = JSON.parse(good.stdout)
  assert.deepEqual([result.server, result.tool, result.ok, good.code], ['misbehaving', 'mixed', true, 0])
  assert.match(result.output, /beside it/)
  assert.equal(Buffer.from(result.attachments[0].data, 'base64').subarray(1, 4).toString(), 'PNG')
  const bad = await box.run(['mcp', 'call', 'misbehaving', 'fail', '--json'])
  assert.deepEqual([JSON.parse(bad.stdout).ok, bad.stderr, bad.code], [false, '', 5])
})

test('mcp call exits 5 when the tool reports a failure, and prints nothing on standard output', async () => {
  await using box = await boxWith(misbehavingEntry())
  const { stdout, stderr, code } = await box.run(['mcp', 'call', 'misbehaving', 'fail', 'text=no luck'])
  assert.deepEqual([stdout, code], ['', 5])
  assert.match(stderr, /^crabtalk: error\[tool\]: Cannot call fail of "misbehaving": .*no luck\n$/)
})

test('mcp call names an image, or writes it to the file of -O', async () => {
  await using box = await boxWith(misbehavingEntry())
  const call = (...words: string[]) => box.run(['mcp', 'call', 'misbehaving', ...words])
  const announced = await call('mixed')
  assert.match(announced.stdout, /^beside it\n/)
  assert.match(announced.stderr, /^crabtalk: image\/png, \d+ bytes; save it with -O FILE\n/)
  const written = await call('image', '-O', 'shot.png')
  assert.deepEqual([written.stderr, written.code], ['', 0])
  const bytes = await readFile(join(box.cwd, 'shot.png'))
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG')
  const text = await call('echo', 'text=kept', '-O', 'out.txt')
  assert.deepEqual([text.stdout, await readFile(join(box.cwd, 'out.txt'), 'utf8')], ['', 'kept\n'])
  assertFailed(await call('echo', 'text=x', '-O', 'none/out.txt'), 'storage', {
    message: /none\/out\.txt/,
    hint: /./,
  })
  assert.deepEqual((await readdir(box.cwd)).toSorted(), ['out.txt', 'shot.png'])
})

test('mcp call -O and mcp read -O write the bytes of a file, whatever its name', async () => {
  await using box = await boxWith(everythingEntry())
  const uri = 'demo://resource/dynamic/blob/1'
  const [reference, read] = [
    ['call', 'everything', 'get-resource-reference', 'resourceType=Blob', 'resourceId=1', '-O', 'a.bin'],
    ['read', '-O', 'b.bin', 'everything', uri],
  ]
  for (const words of [reference!, read!]) {
    const { stdout, stderr, code } = await box.run(['mcp', ...words])
    assert.doesNotMatch(stdout, /the full content is in/)
    assert.deepEqual([stderr, code], ['', 0])
  }
  for (const file of ['a.bin', 'b.bin']) {
    assert.match(await readFile(join(box.cwd, file), 'utf8'), /^Resource 1: This is a base64 blob/)
  }
})

test('mcp call -O says when the result is a link', async () => {
  await using box = await boxWith(everythingEntry())
  const words = ['call', 'everything', 'get-resource-links', 'count=1', '-O', 'links.txt']
  const { stderr, code } = await box.run(['mcp', ...words])
  assert.match(
    stderr,
    /^crabtalk: the result is a link; read it with crabtalk mcp read -O FILE everything demo:\S+\n$/,
  )
  assert.equal(code, 0)
})

test('mcp call sends a string where the schema requires one, and detects a misspelt argument', async () => {
  await using box = await boxWith(everythingEntry())
  const echo = (...words: string[]) => box.run(['mcp', 'call', 'everything', 'echo', ...words])
  for (const word of ['2', 'true', 'null', '{"a":1}']) {
    assert.equal((await echo(`message=${word}`)).stdout, `Echo: ${word}\n`)
  }
  assertFailed(await echo('mesage=hi'), 'invalid', {
    message: /"message" is missing$/,
    hint: /^hint: for "mesage" did you mean "message"\?$/,
  })
  assertFailed(await echo('message=a', 'message=b'), 'usage', {
    message: /message is given twice$/,
    hint: /list/,
  })
})

test('mcp call strips control sequences on a terminal only', async () => {
  await using box = await boxWith(misbehavingEntry())
  const words = ['mcp', 'call', 'misbehaving', 'echo', 'text="\\u001b[31mred\\u001b]0;title\\u0007"']
  assert.equal((await box.run(words)).stdout, '\u001b[31mred\u001b]0;title\u0007\n')
  const terminal = box.terminal(words)
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.ok(terminal.output().endsWith('red\r\n'), JSON.stringify(terminal.output()))
  assert.ok(!terminal.output().includes('title'))
})

test('mcp call runs a tool that a rule would ask about, and not one that a rule denies', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  await writeAgent(box, server.entry, 'permissions = { ask = ["echo"], deny = ["add"] }\n')
  assert.equal((await box.run(['mcp', 'call', 'one', 'echo', 'text=x'])).stdout, 'x\n')
  assertFailed(await box.run(['mcp', 'call', 'one', 'add', 'a=1', 'b=2']), 'denied', {
    message: /^Cannot call add of "one": agents\/crab\.toml\S* denies mcp__one__add$/,
    hint: /mcp__one__add/,
  })
  assert.equal(server.messages('tools/call').length, 1)
})

test('mcp call suggests the nearest server and tool, and rejects invalid arguments', async () => {
  await using box = await boxWith(misbehavingEntry({ tools: ['few'] }))
  const call = (...words: string[]) => box.run(['mcp', 'call', ...words])
  assertFailed(await call('misbehavin', 'echo'), 'missing', {
    message: /"misbehavin"/,
    hint: /"misbehaving"/,
  })
  assertFailed(await call('misbehaving', 'ecoh'), 'missing', {
    message: /does not have that tool/,
    hint: /"echo"/,
  })
  assertFailed(await call('misbehaving', 'echo', 'hello'), 'usage', {
    message: /word 1 after the tool/,
    hint: /path=/,
  })
  assertFailed(await call('misbehaving', 'echo', '{"text":'), 'usage', {
    message: /not a JSON object/,
    hint: /./,
  })
  assertFailed(await call('misbehaving'), 'usage', { message: /<tool> is missing$/, hint: /<tool>/ })
})

test('mcp call repeats the last words of a server that dies', async () => {
  await using box = await boxWith(misbehavingEntry({ at: { 'tools/call': 'crash' } }))
  const { stdout, stderr, code } = await box.run(['mcp', 'call', 'misbehaving', 'echo', 'text=x'])
  assert.match(stderr, /^crabtalk: error\[unavailable\]: .*"misbehaving".*cannot open the database.*\n/)
  assert.deepEqual([stdout, code], ['', 69])
})

for (const isDaemon of [false, true]) {
  const where = isDaemon ? 'with a daemon' : 'without a daemon'
  test(`mcp call and send show on a terminal how far a server is, and leave nothing, ${where}`, async () => {
    const call = { call: 'c', name: 'mcp__far__echo', args: '{"text":"hi"}' }
    await using talk = await makeTalk((_, at) => ({ parts: at % 2 === 0 ? [call] : ['Done.'] }))
    const far = progressServer()
    await using server = await scriptedServer({ play: far.play })
    await writeAgentFile(
      talk,
      `[[mcps]]\nname = "far"\nurl = "${server.url}"\npermissions = { allow = ["*"] }\n`,
    )
    await using _daemon = isDaemon ? await startSandboxDaemon(talk) : undefined
    const env = isDaemon ? WITH_DAEMON : {}
    for (const [args, end] of [
      [['mcp', 'call', 'far', 'echo', 'text=hi'], 'hi\r\n'],
      [['send', 'hello'], 'Done.\r\n'],
    ] as const) {
      far.begin()
      const terminal = talk.terminal(args, { env })
      await terminal.shows(/(calling echo of far|running \S*echo.*): page 1 of 9, red …$/)
      far.goOn()
      await terminal.shows(/\[2K(calling echo of far|running \S*echo.*): 2 of 9 …$/)
      far.goOn()
      assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
      assert.ok(terminal.output().endsWith(`\r\u001b[2K${end}`), JSON.stringify(terminal.output()))
      far.begin()
      const piped = talk.run([...args], { env })
      far.goOn()
      far.goOn()
      const { stdout, stderr } = await piped
      assert.deepEqual([stdout, stderr], [end.replace('\r', ''), ''])
    }
  })
}

/** A server whose calls report progress twice, and wait after each for `goOn()`. */
function progressServer(): { play: Play; begin(): void; goOn(): void } {
  let gates: PromiseWithResolvers<void>[] = []
  let opened = 0
  return {
    begin() {
      gates = [Promise.withResolvers(), Promise.withResolvers()]
      opened = 0
    },
    goOn: () => gates[opened++]!.resolve(),
    async play({ method, id, params }, response) {
      if (method !== 'tools/call') return false
      const { progressToken } = params['_meta'] as { progressToken?: unknown }
      const report = (progress: number, message?: string) =>
        sendEvent(response, {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress, total: 9, ...(message && { message }) },
        })
      startStream(response)
      report(1, 'page 1 of 9,\n\u001b[31mred')
      await gates[0]!.promise
      report(2)
      await gates[1]!.promise
      sendEvent(response, goodAnswer({ method, id, params }))
      response.end()
      return true
    },
  }
}

async function boxWith(entry: StdioEntry): Promise<Sandbox> {
  const box = await makeSandbox()
  await writeAgent(box, entry)
  return box
}

async function writeAgent(box: Sandbox, entry: StdioEntry, more = ''): Promise<void> {
  await writeAgentFile(box, `${entriesToml(entry).trimEnd()}\n${more}`)
}

async function writeAgentFile(box: Sandbox, servers: string): Promise<void> {
  await mkdir(join(box.home, 'agents'), { recursive: true, mode: 0o700 })
  const text = `id = "${ID}"\n\n${servers}`
  await writeFile(join(box.home, 'agents/crab.toml'), text, { mode: 0o600 })
}
