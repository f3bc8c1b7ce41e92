import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findProgram } from '../../../src/core/process/find-program.ts'
import { makeCommand } from '../../support/process-platforms.ts'

test("findProgram() searches the command's PATH for executable files", async () => {
  await using box = await openBox()
  await box.file('a/tool', 0o644)
  await box.file('b/tool', 0o755)
  await box.file('c/tool', 0o755)
  const env = { PATH: `/no/such:${box.path}/a:${box.path}/b:${box.path}/c` }
  assert.equal(await findProgram(makeCommand(['tool'], { env })), `${box.path}/b/tool`)
})

test('findProgram() resolves relative parts of the PATH in the directory of the command', async () => {
  await using box = await openBox()
  await box.file('bin/tool', 0o755)
  await box.file('here', 0o755)
  const at = { cwd: box.path }
  assert.equal(
    await findProgram(makeCommand(['tool'], { ...at, env: { PATH: 'bin' } })),
    `${box.path}/bin/tool`,
  )
  assert.equal(await findProgram(makeCommand(['here'], { ...at, env: { PATH: '' } })), `${box.path}/here`)
})

test('findProgram() searches the system folders when there is no PATH', async () => {
  assert.match(await findProgram(makeCommand(['sh'], { env: {} })), /^\/(usr\/)?bin\/sh$/)
})

test('findProgram() resolves a path in the directory of the command, and follows no link', async () => {
  await using box = await openBox()
  await mkdir(join(box.path, 'sub'))
  await symlink('/bin/sh', join(box.path, 'python'))
  const cwd = join(box.path, 'sub')
  assert.equal(await findProgram(makeCommand(['../python'], { cwd })), `${box.path}/python`)
  assert.equal(await findProgram(makeCommand([`${box.path}/python`], { cwd: '/' })), `${box.path}/python`)
})

test('findProgram() says what is missing, and what to do', async () => {
  await using box = await openBox()
  await box.file('plain', 0o644)
  const at = { cwd: box.path, env: { PATH: box.path } }
  const cases = {
    nope: ['Cannot start nope: no program of that name is on the PATH', 'install it, or use its full path'],
    '': ["Cannot start '': no program of that name is on the PATH", 'install it, or use its full path'],
    uvx: [
      'Cannot start uvx: no program of that name is on the PATH',
      'install uv (https://docs.astral.sh/uv), or use its full path',
    ],
    plain: ['Cannot start plain: no program of that name is on the PATH', 'install it, or use its full path'],
    './plain': [
      'Cannot start ./plain: the file is not executable',
      `make it executable: chmod +x ${box.path}/plain`,
    ],
    './nope': [`Cannot start ./nope: the file ${box.path}/nope does not exist`, undefined],
    './': ['Cannot start ./: it is a directory', undefined],
  }
  for (const [name, [message, hint]] of Object.entries(cases)) {
    await assert.rejects(findProgram(makeCommand([name], at)), { kind: 'missing', message, hint })
  }
})

/** Creates a folder to put programs in. */
async function openBox() {
  const { path, remove } = await mkdtempDisposable(join(tmpdir(), 'crab box '))
  return {
    path,
    async file(name: string, mode: number) {
      await mkdir(join(path, name, '..'), { recursive: true })
      await writeFile(join(path, name), '#!/bin/sh\n', { mode })
    },
    [Symbol.asyncDispose]: remove,
  }
}
