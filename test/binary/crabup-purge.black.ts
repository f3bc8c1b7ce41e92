import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { BINARY, makeSandbox, type Sandbox } from '../support/run-binary.ts'

const NOBODY = 65_534

test('crabup uninstall --purge fails for a home that it cannot read', async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('this takes root')
  await using box = await makeSandbox()
  const home = await makeHome(box, 'closed', 0)
  for (const more of ['', ' --dry-run']) {
    const finished = await uninstall(box, home, `--purge --yes${more}`)
    assert.deepEqual([finished.code, finished.stdout], [1, ''], finished.stderr)
    assert.match(finished.stderr, /error\[storage\]: Cannot read .*\/closed\S*: permission denied/)
  }
  assert.equal(await readFile(join(home, 'sessions/a.jsonl'), 'utf8'), 'x')
})

test('crabup uninstall --purge removes nothing when a directory in the home belongs to another user', async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('this takes root')
  await using box = await makeSandbox()
  const home = await makeHome(box, 'mixed', NOBODY)
  await mkdir(join(home, 'sessions/sub'))
  await writeFile(join(home, 'sessions/sub/s.jsonl'), 'x')
  await chmod(join(home, 'sessions/sub'), 0o755)
  const refused = await uninstall(box, home, '--purge --yes')
  assert.deepEqual([refused.code, refused.stdout], [1, ''], refused.stderr)
  assert.match(
    refused.stderr,
    /Cannot remove the contents of .*\/mixed\/sessions\/sub: you have no write permission/,
  )
  assert.match(refused.stderr, /hint: .*chown -R/)
  assert.deepEqual(await readdir(join(home, 'sessions')), ['a.jsonl', 'sub'])

  await chown(join(home, 'sessions/sub'), NOBODY, NOBODY)
  const removed = await uninstall(box, home, '--purge --yes')
  assert.equal(removed.code, 0, removed.stderr)
  assert.match(removed.stdout, /^removed .*\/mixed$/m)
})

test('crabup uninstall keeps data that it cannot read, and says so', async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('this takes root')
  await using box = await makeSandbox()
  const home = await makeHome(box, 'half', NOBODY)
  await mkdir(join(home, 'sessions/sub'))
  await chmod(join(home, 'sessions/sub'), 0o700)
  const finished = await uninstall(box, home, '')
  assert.equal(finished.code, 0, finished.stderr)
  assert.match(finished.stdout, /^kept your data in .*\/half \(it cannot be read\)/m)
})

/** Makes a home with one conversation in a directory that every user can reach. */
async function makeHome({ cwd }: Sandbox, name: string, owner: number): Promise<string> {
  const home = join(cwd, 'shared', name)
  await mkdir(join(home, 'sessions'), { recursive: true })
  await writeFile(join(home, 'sessions/a.jsonl'), 'x')
  for (let folder = join(cwd, 'shared'); folder !== '/tmp' && folder !== '/'; folder = join(folder, '..')) {
    await chmod(folder, 0o755)
  }
  await chmod(home, 0o700)
  execFileSync('chown', ['-R', `${owner}:${owner}`, home])
  return home
}

/** Runs the command as a user without privileges. */
async function uninstall(box: Sandbox, home: string, options: string) {
  const env = { CRABTALK_HOME: home, HOME: join(home, '..'), CRABTALK_SERVICE_MANAGER: 'supervisor' }
  const user = `setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups`
  return await box.shell(`${user} "${BINARY}" --as-crabup uninstall ${options}`, { env })
}
