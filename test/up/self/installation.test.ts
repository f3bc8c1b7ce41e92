import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectInstallation, oldProgram } from '../../../src/up/self/installation.ts'

test('installationOf() reads from the path who installed a program', () => {
  const of = (path: string, isOneFile = true) => detectInstallation({ path, isOneFile })
  assert.deepEqual(of('/home/me/.local/bin/crabtalk'), { kind: 'file', path: '/home/me/.local/bin/crabtalk' })
  assert.deepEqual(of('/src/crabtalk/bin/crabtalk.ts', false), {
    kind: 'source',
    path: '/src/crabtalk/bin/crabtalk.ts',
  })
  const globally = [
    '/usr/lib/node_modules/crabtalk/bin/crabtalk',
    '/usr/lib/node_modules/crabtalk-linux-x64/bin/crabtalk',
    '/usr/lib/node_modules/crabtalk/node_modules/crabtalk-linux-x64/bin/crabtalk',
  ]
  for (const path of globally) {
    assert.deepEqual(of(path), { kind: 'npm', path, folder: '/usr/lib/node_modules', prefix: '/usr' })
  }
  const path = '/home/me/project/node_modules/crabtalk-linux-x64/bin/crabtalk'
  assert.deepEqual(of(path), { kind: 'npm', path, folder: '/home/me/project/node_modules' })
})

test('installationOf() tells global packages of Windows from those of a project by what starts them', () => {
  const of = (folder: string) => {
    const path = `${folder}\\node_modules\\crabtalk\\node_modules\\crabtalk-win-x64\\bin\\crabtalk.exe`
    return detectInstallation(
      { path, isOneFile: true },
      { isWindows: true, exists: (file) => file === 'D:\\nodejs\\crabtalk.cmd' },
    )
  }
  const at = (installation: ReturnType<typeof of>) =>
    installation.kind === 'npm' && [installation.folder, installation.prefix]
  assert.deepEqual(at(of('D:\\nodejs')), ['D:\\nodejs\\node_modules', 'D:\\nodejs'])
  assert.deepEqual(at(of('D:\\lib')), ['D:\\lib\\node_modules', undefined])
  const file = { path: 'C:\\bin\\crabtalk.exe', isOneFile: true }
  assert.equal(detectInstallation(file, { isWindows: true, exists: () => true }).kind, 'file')
})

test('oldProgram() is beside the program', () => {
  assert.equal(oldProgram('/opt/bin/crabtalk'), '/opt/bin/crabtalk.old')
  assert.equal(oldProgram('/opt/bin/crabtalk.EXE'), '/opt/bin/crabtalk.old.exe')
})
