import assert from 'node:assert/strict'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { mountReadOnly, mountSmallDisk, type TestMount } from '../support/small-disk.ts'
import { assertFailed, makeTalk, modesUnder, readSessions, type Talk } from '../support/talk.ts'

const FULL = { message: /the disk is full$/, hint: /^hint: free some space/ }

test('a disk that is full before a turn exits 1 without a model call, loses nothing, and works again later', async () => {
  using disk = mountSmallDisk(256)
  if (!disk) return // the last test needs no privileges
  await using talk = await makeTalk((_, index) => ({ parts: [`answer ${index}`] }))
  const env = await moveHome(talk, disk)
  await talk.send(['-s', 'me', 'one'], { env })
  const before = await readSessions(env.CRABTALK_HOME)
  const filler = await fill(talk, disk)
  const long = 'x'.repeat(8000) // longer than the free rest of a file's last disk block
  for (const name of ['me', 'other']) {
    assertFailed(await talk.send(['-s', name, long], { env }), 'storage', FULL)
  }
  assert.deepEqual([talk.server.requests.length, await readSessions(env.CRABTALK_HOME)], [1, before])
  assert.deepEqual(await temporary(env.CRABTALK_HOME), [])
  await rm(filler)
  assert.equal((await talk.send(['-s', 'me', 'three'], { env })).stdout, 'answer 1\n')
  const [session] = await readSessions(env.CRABTALK_HOME)
  assert.deepEqual(session?.said, ['user: one', 'assistant: answer 0', 'user: three', 'assistant: answer 1'])
})

test('a disk that fills up during a turn prints the answer, exits 1, and the conversation continues later', async () => {
  using disk = mountSmallDisk(256)
  if (!disk) return // the last test needs no privileges
  const { promise, resolve } = Promise.withResolvers<void>()
  const long = 'x'.repeat(8000)
  await using talk = await makeTalk([{ parts: ['half ', promise, long] }, { parts: ['again'] }])
  const env = await moveHome(talk, disk)
  const running = talk.startSend(['-s', 'me', 'one'], { env })
  await running.prints(/^half /)
  const filler = await fill(talk, disk)
  resolve()
  assertFailed(await running.finished, 'storage', { ...FULL, stdout: `half ${long}\n` })
  assert.deepEqual((await readSessions(env.CRABTALK_HOME))[0]?.said, ['user: one'])
  await rm(filler)
  assert.equal((await talk.send(['-s', 'me', 'two'], { env })).stdout, 'again\n')
  const [session] = await readSessions(env.CRABTALK_HOME)
  assert.deepEqual(session?.said, ['user: one', 'user: two', 'assistant: again'])
})

test('a read-only home can be read, writing exits 1 with a hint, and --no-save answers', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  await talk.send(['-s', 'me', 'one'])
  const before = await talk.sessions()
  using mount = mountReadOnly(talk.home)
  if (!mount) return // the last test needs no privileges
  const env = { CRABTALK_HOME: mount.path }
  for (const args of [['-s', 'me', 'two'], ['two']]) {
    assertFailed(await talk.send(args, { env }), 'storage', {
      message: /^Cannot .*: the file system is read-only$/,
      hint: /^hint: make it writable/,
    })
  }
  assert.deepEqual([talk.server.requests.length, await talk.sessions()], [1, before])
  assert.equal((await talk.send(['--no-save', 'three'], { env })).stdout, 'ok\n')
  for (const args of [
    ['conversation', 'list'],
    ['conversation', 'show'],
    ['agent', 'list'],
    ['config', 'check'],
  ]) {
    const { stderr, code } = await talk.run(args, { env })
    assert.deepEqual([stderr, code], ['', 0], args.join(' '))
  }
  assertFailed(await talk.run(['agent', 'create', 'helper'], { env }), 'storage', { message: /read-only$/ })
  const daemon = await talk.run(['daemon', 'run'], { env }) // 78, so that a service manager does not restart it forever
  assertFailed(daemon, 'config', { message: /read-only$/, hint: /^hint: make it writable/ })
})

test('a home that cannot be created exits 1 with the reason', async () => {
  await using talk = await makeTalk([])
  await writeFile(join(talk.cwd, 'file'), '')
  const keys = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: talk.server.url }
  for (const home of [join(talk.cwd, 'file'), join(talk.cwd, 'file/home'), '/proc/nosuch/home']) {
    const finished = await talk.send(['hello'], { env: { ...keys, CRABTALK_HOME: home } })
    assertFailed(finished, 'storage', { message: /^Cannot / })
  }
  assert.equal(talk.server.requests.length, 0)
})

test('an answer that the system refuses to store exits 1, and the message before it stays', async () => {
  await using talk = await makeTalk([{ parts: ['x'.repeat(100_000)] }, { parts: ['again'] }])
  const script = 'trap "" XFSZ; ulimit -f 64; crabtalk send -s me one >/dev/null'
  const finished = await talk.shell(script)
  assert.match(finished.stderr, /^crabtalk: error\[storage\]: Cannot .*\n(hint: .*\n)?$/)
  assert.equal(finished.code, 1)
  assert.equal((await talk.send(['-s', 'me', 'two'])).stdout, 'again\n')
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: one', 'user: two', 'assistant: again'])
})

/** Moves the home to that disk, with the configuration of the sandbox. */
async function moveHome(talk: Talk, disk: TestMount): Promise<{ CRABTALK_HOME: string }> {
  const home = join(disk.path, 'home')
  await cp(talk.home, home, { recursive: true })
  return { CRABTALK_HOME: home }
}

/** Fills a disk to the last byte, and returns the file that does. */
async function fill(talk: Talk, disk: TestMount): Promise<string> {
  const filler = join(disk.path, 'filler')
  await talk.shell(`cat /dev/zero >'${filler}'`)
  return filler
}

async function temporary(home: string): Promise<string[]> {
  return (await modesUnder(home)).filter((row) => /\.tmp$|run\/proc\/./.test(row))
}
