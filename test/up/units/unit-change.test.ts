import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { UnitFile } from '../../../src/up/types.ts'
import { launchdPlist } from '../../../src/up/units/launchd-plist.ts'
import { isSealed } from '../../../src/up/units/seal.ts'
import { systemdUnit } from '../../../src/up/units/systemd-unit.ts'
import { taskXml, toUtf16 } from '../../../src/up/units/task-xml.ts'
import { editedUnitPath, unitChange, writeUnit } from '../../../src/up/units/unit-change.ts'
import { daemonSpec, windowsSpec } from './specs.ts'

const RENDERED: Readonly<Record<string, (home: string) => Buffer>> = {
  'a systemd unit': (home) => Buffer.from(systemdUnit(daemonSpec(home))),
  'a launchd job': (home) => Buffer.from(launchdPlist(daemonSpec(home), 'gui')),
  'a task': (home) => toUtf16(taskXml(windowsSpec(home), { action: [home], userId: 'anna' })),
}

for (const [what, render] of Object.entries(RENDERED)) {
  test(`unitChange() reports ${what} as new, the same, outdated or edited`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-unit-'))
    const unit = { path: join(folder.path, 'units/x'), content: render('/one') }
    assert.deepEqual(await kindAndBefore(unit), ['new', ''])
    assert.equal(await writeUnit(unit), 'new')
    assert.equal((await unitChange(unit)).kind, 'same')
    const next = { ...unit, content: render('/two') }
    const { kind, before, after } = await unitChange(next)
    assert.equal(kind, 'outdated')
    assert.ok(isSealed(before) && isSealed(after) && before.includes('/one') && after.includes('/two'))
    await edit(unit)
    assert.equal((await unitChange(next)).kind, 'edited')
    assert.equal((await unitChange(unit)).kind, 'edited')
  })

  test(`writeUnit() keeps ${what} that was edited`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-unit-'))
    const unit = { path: join(folder.path, 'x'), content: render('/one') }
    await writeUnit(unit)
    await edit(unit)
    const edited = await readFile(unit.path)
    assert.equal(await writeUnit(unit), 'edited')
    assert.deepEqual(await readFile(unit.path), unit.content)
    assert.deepEqual(await readFile(editedUnitPath(unit.path)), edited)
    assert.deepEqual((await readdir(folder.path)).toSorted(), ['x', 'x.edited'])
  })
}

test('unitChange() reports a unit of other origin as edited', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-unit-'))
  const unit = { path: join(folder.path, 'x'), content: RENDERED['a systemd unit']!('/one') }
  await writeFile(unit.path, '[Service]\nExecStart=/bin/true\n')
  assert.deepEqual(await kindAndBefore(unit), ['edited', '[Service]\nExecStart=/bin/true\n'])
})

test('writeUnit() does not touch an unchanged unit', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-unit-'))
  const unit = { path: join(folder.path, 'x'), content: RENDERED['a systemd unit']!('/one') }
  await writeUnit(unit)
  const { ino } = await stat(unit.path)
  assert.equal(await writeUnit(unit), 'same')
  assert.equal((await stat(unit.path)).ino, ino)
})

async function kindAndBefore(unit: UnitFile): Promise<[string, string]> {
  const { kind, before } = await unitChange(unit)
  return [kind, before]
}

/** Changes one word, as a user would. */
async function edit({ path, content }: UnitFile): Promise<void> {
  const from = Buffer.from(content)
  const encoding = from[0] === 0xff ? 'utf16le' : 'utf8'
  const text = from.toString(encoding)
  await writeFile(path, text.replace('/one', '/mine'), encoding)
}
