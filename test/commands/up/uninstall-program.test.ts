import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removalSteps } from '../../../src/commands/up/uninstall-program.ts'

test('removalSteps() names the existing files, including the one before the last update', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), "crab's "))
  const bin = join(dir.path, 'bin')
  await mkdir(bin)
  for (const name of ['crabtalk', 'crabup', 'crabtalk.old']) await writeFile(join(bin, name), '')
  const quoted = (name: string) => `'${join(bin, name).replace("'", "'\\''")}'`
  const files = ['crabtalk', 'crabup', 'crabtalk.old'].map(quoted).join(' ')
  const program = { path: join(bin, 'crabtalk'), isOneFile: true }
  assert.deepEqual(removalSteps(program), [
    `the program itself is still installed; remove it with: rm ${files}`,
  ])
  await mkdir(join(dir.path, 'share/crabtalk'), { recursive: true })
  await writeFile(join(dir.path, 'share/crabtalk/installed'), '')
  assert.match(removalSteps(program)[0]!, /sh install\.sh --uninstall/)
})

test('removalSteps() names the program as it is called, also for Windows', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  for (const name of ['crabtalk.exe', 'crabup.cmd', 'crabtalk.old.exe', 'crab'])
    await writeFile(join(dir.path, name), '')
  const line = (name: string) => removalSteps({ path: join(dir.path, name), isOneFile: true })[0]
  const files = ['crabtalk.exe', 'crabup.cmd', 'crabtalk.old.exe'].map((name) => join(dir.path, name))
  assert.equal(
    line('crabtalk.exe'),
    `the program itself is still installed; to remove it, delete ${files.join(', ')}`,
  )
  assert.match(line('crab')!, /remove it with: rm \S+\/crab /)
})

test('removalSteps() refers to npm for what npm installed', () => {
  const path = '/usr/local/lib/node_modules/crabtalk/node_modules/crabtalk-linux-x64/crabtalk'
  assert.match(removalSteps({ path, isOneFile: true })[0]!, /npm uninstall -g crabtalk$/)
  const local = '/work/node_modules/crabtalk-linux-x64/crabtalk'
  assert.match(removalSteps({ path: local, isOneFile: true })[0]!, /npm uninstall crabtalk$/)
  assert.match(removalSteps({ path: '/src/bin/crabtalk.ts', isOneFile: false })[0]!, /from source, in \/src$/)
})
