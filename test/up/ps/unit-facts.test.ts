import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingFileNotes, readUnitFacts } from '../../../src/up/ps/unit-facts.ts'
import type { ManagerKind, ServiceSpec } from '../../../src/up/types.ts'
import { launchdPlist } from '../../../src/up/units/launchd-plist.ts'
import { systemdUnit } from '../../../src/up/units/systemd-unit.ts'

const WORDS = [
  '/opt/a b/crab$talk',
  '/opt/crab',
  `/opt/it's "x" \\ y/crab`,
  '/opt/100%/é/&/<x>',
  '/opt/$HOME',
]
const RENDERERS: [ManagerKind, (spec: ServiceSpec) => string][] = [
  ['systemd', systemdUnit],
  ['launchd', (spec) => launchdPlist(spec, 'gui')],
]

for (const [kind, render] of RENDERERS) {
  test(`readUnitFacts() reads the program, its arguments and the PATH of a unit of ${kind}`, async () => {
    await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
    const path = join(dir.path, 'unit')
    for (const program of WORDS) {
      const spec = makeSpec([program, 'daemon', 'run', ...WORDS])
      const content = Buffer.from(render(spec))
      const manager = { kind, unit: () => ({ path, content }) }
      await writeFile(path, content)
      const facts = await readUnitFacts(spec, { manager, folder: dir.path })
      assert.deepEqual(facts, { argv: spec.argv, path: spec.env['PATH'], isEdited: false })
      await writeFile(path, `${content}\n# mine\n`)
      assert.equal((await readUnitFacts(spec, { manager, folder: dir.path }))?.isEdited, true)
    }
  })
}

test('readUnitFacts() returns nothing for a missing unit', async () => {
  const manager = { kind: 'systemd', unit: () => ({ path: '/nowhere/x', content: Buffer.from('') }) } as const
  assert.equal(await readUnitFacts(makeSpec(['/bin/true']), { manager, folder: '/nowhere' }), undefined)
})

test('missingFileNotes() names a missing program and a missing script', async () => {
  const notes = await missingFileNotes('clock', {
    argv: ['/nowhere/node', process.execPath, '/nowhere/clock.js', '/x'],
  })
  assert.deepEqual(
    notes.map(({ message }) => message),
    [
      'its unit runs /nowhere/node, which does not exist',
      'its unit runs /nowhere/clock.js, which does not exist',
    ],
  )
  assert.deepEqual(await missingFileNotes('clock', { argv: [process.execPath, 'daemon', 'run'] }), [])
})

function makeSpec(argv: readonly [string, ...string[]]): ServiceSpec {
  return {
    ...{ name: 'clock', label: 'ai.crabtalk.clock', description: 'x', argv, cwd: '/' },
    ...{ env: { CRABTALK_HOME: '/h', PATH: '/usr/bin:/opt/a b:/100%/$x' }, envFile: '/e', output: '/o' },
  }
}
