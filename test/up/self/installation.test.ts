import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectInstallation, oldProgram } from '../../../src/up/self/installation.ts'

test('detectInstallation() derives from the path how a program was installed', () => {
  const detect = (path: string, isOneFile = true) => detectInstallation({ path, isOneFile })
  assert.deepEqual(detect('/home/me/.local/bin/crabtalk'), {
    kind: 'file',
    path: '/home/me/.local/bin/crabtalk',
  })
  assert.deepEqual(detect('/src/crabtalk/bin/crabtalk.ts', false), {
    kind: 'source',
    path: '/src/crabtalk/bin/crabtalk.ts',
  })
  const globally = [
    '/usr/lib/node_modules/crabtalk/bin/crabtalk',
    '/usr/lib/node_modules/crabtalk-linux-x64/bin/crabtalk',
    '/usr/lib/node_modules/crabtalk/node_modules/crabtalk-linux-x64/bin/crabtalk',
  ]
  for (const path of globally) {
    assert.deepEqual(detect(path), { kind: 'npm', path, folder: '/usr/lib/node_modules', prefix: '/usr' })
  }
  const path = '/home/me/project/node_modules/crabtalk-linux-x64/bin/crabtalk'
  assert.deepEqual(detect(path), { kind: 'npm', path, folder: '/home/me/project/node_modules' })
})

test('detectInstallation() distinguishes global packages on Windows from those of a project by their launcher', () => {
  const detect = (folder: string) => {
    const path = `${folder}\\node_modules\\crabtalk\\node_modules\\crabtalk-win-x64\\bin\\crabtalk.exe`
    return detectInstallation(
      { path, isOneFile: true },
      { isWindows: true, exists: (file) => file === 'D:\\nodejs\\crabtalk.cmd' },
    )
  }
  const describe = (installation: ReturnType<typeof detect>) =>
    installation.kind === 'npm' && [installation.folder, installation.prefix]
  assert.deepEqual(describe(detect('D:\\nodejs')), ['D:\\nodejs\\node_modules', 'D:\\nodejs'])
  assert.deepEqual(describe(detect('D:\\lib')), ['D:\\lib\\node_modules', undefined])
  const file = { path: 'C:\\bin\\crabtalk.exe', isOneFile: true }
  assert.equal(detectInstallation(file, { isWindows: true, exists: () => true }).kind, 'file')
})

test('oldProgram() is next to the program', () => {
  assert.equal(oldProgram('/opt/bin/crabtalk'), '/opt/bin/crabtalk.old')
  assert.equal(oldProgram('/opt/bin/crabtalk.EXE'), '/opt/bin/crabtalk.old.exe')
})
