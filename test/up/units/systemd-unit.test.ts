import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceSpec } from '../../../src/up/types.ts'
import { launchdPlist } from '../../../src/up/units/launchd-plist.ts'
import { systemdUnit } from '../../../src/up/units/systemd-unit.ts'
import { taskXml } from '../../../src/up/units/task-xml.ts'
import { daemonSpec } from './specs.ts'

const spec = daemonSpec('/home/anna/.crabtalk')

/** Returns the value of a directive that occurs once. */
function directive(key: string, changed: Partial<ServiceSpec>): string {
  const unit = systemdUnit({ ...spec, ...changed })
  const found = unit.split('\n').filter((line) => line.startsWith(`${key}=`))
  assert.equal(found.length, 1)
  return found[0]!.slice(key.length + 1)
}

const RENDERERS: Readonly<Record<string, (spec: ServiceSpec) => string>> = {
  systemdUnit,
  launchdPlist: (spec) => launchdPlist(spec, 'gui'),
  taskXml: (spec) => taskXml(spec, { action: spec.argv, userId: 'anna' }),
}
const UNWRITABLE: Readonly<Record<string, Partial<ServiceSpec>>> = {
  'a line break in its program': { argv: ['/bin/a\nExecStartPre=/bin/b'] },
  'a carriage return in an argument': { argv: ['/bin/a', 'b\rc'] },
  'a NUL in an argument': { argv: ['/bin/a', 'b\0c'] },
  'half a character in its directory': { cwd: '/home/\ud800' },
  'a line break in a variable': { env: { PATH: '/bin\n/sbin' } },
  'an invalid variable name': { env: { 'A B': 'c' } },
  'an escape in the path of its secrets': { envFile: '/home/\u001b[31m/service.env' },
  'a line separator in the path of its output': { output: '/home/\u2028/x.log' },
}
for (const [name, render] of Object.entries(RENDERERS)) {
  for (const [what, changed] of Object.entries(UNWRITABLE)) {
    if (name === 'taskXml' && 'env' in changed) continue // a task has no variables
    test(`${name}() rejects ${what}`, () => {
      assert.throws(() => render({ ...spec, ...changed }), {
        kind: 'invalid',
        message: /ai\.crabtalk\.daemon/,
      })
    })
  }
}
for (const name of ['systemdUnit', 'taskXml']) {
  test(`${name}() makes one harmless line of a description`, () => {
    const unit = RENDERERS[name]!({ ...spec, description: 'a\nb\u001b[31m \\' })
    assert.match(unit, /crabtalk daemon: a b \[31m(<|\n)/)
  })
}

test('systemdUnit() uses a shell to start a program whose path systemd refuses', () => {
  assert.equal(
    directive('ExecStart', { argv: ["/o'hara/x", 'y'] }),
    `/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" "/o'hara/x" y`,
  )
})

test('systemdUnit() writes a program with a dollar twice: literally, and to be expanded', () => {
  assert.equal(directive('ExecStart', { argv: ['/a$b/x', '$c'] }), '@"/a$b/x" "/a$$b/x" "$$c"')
})

test('systemdUnit() appends a slash to a directory whose last character would join or lose the line end', () => {
  assert.equal(directive('WorkingDirectory', { cwd: '/a\\' }), '/a\\/')
  assert.equal(directive('WorkingDirectory', { cwd: '/a ' }), '/a /')
})

test('systemdUnit() rejects an output file whose name cannot end a line', () => {
  assert.throws(() => systemdUnit({ ...spec, output: '/a/x.log\\' }), { kind: 'invalid' })
})

test('systemdUnit() writes the path of secrets as a pattern that matches only this path', () => {
  assert.equal(directive('EnvironmentFile', { envFile: '/a [b]*?\\/50%' }), '-/a \\[b\\]\\*\\?\\\\/50%%')
})

test('systemdUnit() never contains a value from the file of secrets', () => {
  assert.match(systemdUnit(spec), /^EnvironmentFile=-\/home\/anna\/\.crabtalk\/service\.env$/m)
})
