import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { BINARY } from '../support/run-binary.ts'
import { makeTalk } from '../support/talk.ts'

const HOSTILE = 'a\u009b31mX\u202eY\u2066Z'
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const UNSHOWABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

test('JSON of conversations, agents and runs contains no control characters and parses to the original text', async () => {
  await using talk = await makeTalk(() => ({ parts: [HOSTILE] }))
  const runs = [
    await talk.send(['-s', 'ann', '-o', 'json', HOSTILE]),
    await talk.send(['-s', 'ann', '-o', 'stream-json', HOSTILE]),
    await talk.run(['conversation', 'list', '--json']),
    await talk.run(['conversation', 'show', '--json']),
    await talk.run(['conversation', 'export', '--format', 'json']),
    await talk.run(['conversation', 'export', '--format', 'jsonl']),
  ]
  for (const { code, stdout, stderr } of runs) {
    assert.equal(code, 0, stderr)
    assert.match(stdout, /\\u009b31mX\\u202eY\\u2066Z/)
    assert.doesNotMatch(stdout, UNSHOWABLE)
  }
})

test('agent show and agent list remove control characters of agent files and their names', async () => {
  await using talk = await makeTalk(() => ({ parts: ['hi'] }))
  await talk.run(['agent', 'list'])
  await appendFile(join(talk.home, 'agents/crab.md'), `A\u001b]0;PWN\u0007 ${HOSTILE}`)
  await writeFile(join(talk.home, 'agents/b\u001b]0;PWN\u0007.toml'), '')
  const shown = await talk.run(['agent', 'show', 'crab'])
  assert.match(shown.stdout, /aXYZ\n$/)
  const listed = await talk.run(['agent', 'list'])
  assert.match(listed.stderr, /a name is 1 to 64 letters/)
  for (const text of [shown.stdout, listed.stdout, listed.stderr]) assert.doesNotMatch(text, UNSHOWABLE)
})

test('a user without an account and without HOME gets an error that names what is missing', () => {
  const isRoot = process.getuid?.() === 0 // only root becomes a user without an account; for others HOME is empty
  const env = isRoot ? { PATH: process.env['PATH'] } : { PATH: process.env['PATH'], HOME: '' }
  let failure: { status?: number; stderr?: string } = {}
  try {
    execFileSync(BINARY, ['config', 'path'], {
      ...(isRoot && { uid: 54_321, gid: 54_321 }),
      cwd: '/',
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch (reason) {
    failure = reason as typeof failure
  }
  assert.deepEqual(
    [failure.status, failure.stderr],
    [
      78,
      'crabtalk: error[config]: Cannot choose a home directory: this user has none\nhint: set CRABTALK_HOME to a directory\n',
    ],
  )
})
