import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { recoverUpdates, revertTrials } from '../../../src/up/packages/activate.ts'
import { switchVersion, writeRollbackRecord } from '../../../src/up/packages/component-folder.ts'
import { findUpdates, pullComponent } from '../../../src/up/packages/components.ts'
import { brokenPackages, installedService } from '../../../src/up/packages/installed.ts'
import { type TestPorts, testPorts } from '../../support/package-ports.ts'
import { componentFiles, openRegistry, type Registry } from '../../support/registry.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'

const { signal } = new AbortController()
let registry: Registry
/** Of 1.0.0. */
let tarball: string

before(async () => {
  registry = await openRegistry()
  const echo = (version: string) => ({
    manifest: { name: 'crabtalk-echo', version, type: 'module', bin: 'main.mjs' },
    files: componentFiles('echo'),
  })
  const [first] = await registry.publish(echo('1.0.0'), echo('1.1.0'))
  tarball = first!.tarball
})
after(() => registry[Symbol.asyncDispose]())

interface Opened extends TestPorts, AsyncDisposable {
  home: TemporaryHome
}

async function open(): Promise<Opened> {
  const home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  const made = testPorts({ paths: home.paths, registry, home: home.paths.home })
  return { ...made, home, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() }
}

function wanted(version: string) {
  return { kind: 'registry', package: 'crabtalk-echo', version } as const
}

function foldersOf({ home }: Opened): string[] {
  return readdirSync(join(home.paths.packages, 'echo')).toSorted()
}

test('pull() switches a running service to the new version, and back when it does not start', async () => {
  await using at = await open()
  await pullComponent(wanted('1.0.0'), at.ports, signal)
  at.running.add('echo')
  const seen: (string | undefined)[] = []
  at.onRestart.now = async () => {
    seen.push(installedService(at.home.paths, 'echo')?.version)
    if (seen.length === 1) throw new CrabError('unavailable', 'echo is not ready', { hint: 'its last lines' })
  }
  const failed = pullComponent(wanted('1.1.0'), at.ports, signal)
  await assert.rejects(failed, {
    kind: 'unavailable',
    message: 'Cannot change echo to 1.1.0: echo is not ready; 1.0.0 runs again',
    hint: 'its last lines',
  })
  assert.deepEqual(seen, ['1.1.0', '1.0.0'])
  assert.deepEqual(foldersOf(at), ['1.0.0', 'current', 'failed.json'])
  const pulled = await pullComponent(wanted('1.1.0'), at.ports, signal)
  assert.deepEqual([pulled.before, pulled.wasRestarted], ['1.0.0', true])
  assert.deepEqual(foldersOf(at), ['1.1.0', 'current'])
})

test('pull() brings in order what died before a new version had shown that it starts', async () => {
  await using at = await open()
  const folder = join(at.home.paths.packages, 'echo')
  await pullComponent(wanted('1.0.0'), at.ports, signal)
  await at.home.write('packages/echo/1.1.0/crabup.json', 'half of it')
  await rm(join(folder, 'current'))
  symlinkSync('1.1.0', join(folder, 'current'))
  writeFileSync(join(folder, 'pending.json'), '{"back":"1.0.0"}')
  await mkdir(join(at.home.paths.packages, '.staging', '999999999-01'), { recursive: true })
  assert.deepEqual(brokenPackages(at.home.paths), ['echo'])
  const pulled = await pullComponent(wanted('1.1.0'), at.ports, signal)
  assert.equal(pulled.before, '1.0.0') // the way back was gone first
  assert.equal(readlinkSync(join(folder, 'current')), '1.1.0')
  assert.equal(installedService(at.home.paths, 'echo')?.version, '1.1.0')
  assert.deepEqual(foldersOf(at), ['1.1.0', 'current'])
  assert.deepEqual(readdirSync(join(at.home.paths.packages, '.staging')), [])
})

/** Leaves `echo` as somebody who died while 1.1.0 was tried: it counts, and runs. */
async function cutOffTrial(at: Opened): Promise<{ versions: (string | undefined)[] }> {
  await pullComponent(wanted('1.0.0'), at.ports, signal)
  const folder = join(at.home.paths.packages, 'echo')
  await at.home.write(
    'packages/echo/1.1.0/crabup.json',
    readFileSync(join(folder, '1.0.0/crabup.json'), 'utf8'),
  )
  await switchVersion(folder, '1.1.0', 'linux')
  await writeRollbackRecord(folder, { back: '1.0.0', tried: '1.1.0' })
  at.running.add('echo')
  const seen = { versions: [] as (string | undefined)[] }
  at.onRestart.now = async () => void seen.versions.push(readlinkSync(join(folder, 'current')))
  return seen
}

test('endCutOffTrials() goes back, starts the service anew, and removes what was tried', async () => {
  await using at = await open()
  const seen = await cutOffTrial(at)
  at.locked.add('package:echo')
  assert.deepEqual(await recoverUpdates(at.ports, signal), []) // it is being tried
  assert.deepEqual(foldersOf(at), ['1.0.0', '1.1.0', 'current', 'pending.json'])
  at.locked.clear()
  const [ended] = await recoverUpdates(at.ports, signal)
  assert.deepEqual(ended, { name: 'echo', tried: '1.1.0', version: '1.0.0', wasRestarted: true })
  assert.deepEqual([seen.versions, foldersOf(at)], [['1.0.0'], ['1.0.0', 'current']])
  assert.deepEqual(await recoverUpdates(at.ports, signal), [])
  assert.equal((await findUpdates(at.ports, signal))[0]?.version, '1.1.0') // it has not failed
})

test('endCutOffTrials() that dies leaves the note to the next; a service that does not start is told of', async () => {
  await using at = await open()
  const seen = await cutOffTrial(at)
  const dying = {
    ...at.ports.services,
    isRunning: () => Promise.reject(new CrabError('unavailable', 'no bus')),
  }
  await assert.rejects(recoverUpdates({ ...at.ports, services: dying }, signal), { message: 'no bus' })
  assert.deepEqual(foldersOf(at), ['1.0.0', '1.1.0', 'current', 'pending.json'])
  assert.equal(installedService(at.home.paths, 'echo')?.version, '1.0.0')
  at.onRestart.now = () => Promise.reject(new CrabError('unavailable', 'echo is not ready'))
  const [ended] = await recoverUpdates(at.ports, signal)
  assert.deepEqual(
    [ended?.failure?.message, ended?.wasRestarted, seen.versions],
    ['echo is not ready', true, []],
  )
  assert.deepEqual(foldersOf(at), ['1.0.0', 'current'])
})

test('endCutOffTrials() starts what has failed meanwhile, and not what somebody has stopped', async () => {
  await using at = await open()
  const seen = await cutOffTrial(at)
  at.running.clear()
  assert.equal((await recoverUpdates(at.ports, signal))[0]?.wasRestarted, false)
  await cutOffTrial(at)
  at.running.clear()
  at.failed.add('echo')
  assert.equal((await recoverUpdates(at.ports, signal))[0]?.wasRestarted, true)
  assert.deepEqual([seen.versions, foldersOf(at)], [[], ['1.0.0', 'current']])
})

test('countBack() has the version before count again, and leaves the rest to whoever comes next', async () => {
  await using at = await open()
  const seen = await cutOffTrial(at)
  await revertTrials(at.ports, async (resource) => resource === 'package:echo')
  const counting = () => readlinkSync(join(at.home.paths.packages, 'echo/current'))
  assert.equal(counting(), '1.1.0')
  await revertTrials(at.ports, async () => false)
  assert.deepEqual([counting(), seen.versions], ['1.0.0', []])
  assert.equal((await recoverUpdates(at.ports, signal)).length, 1)
})

test('pull() brings a version back whose program is gone', async () => {
  await using at = await open()
  await pullComponent(wanted('1.0.0'), at.ports, signal)
  await rm(installedService(at.home.paths, 'echo')!.script)
  const pulled = await pullComponent(wanted('1.0.0'), at.ports, signal)
  assert.equal(pulled.isSame, false)
  assert.ok(existsSync(installedService(at.home.paths, 'echo')!.script))
  assert.deepEqual(foldersOf(at), ['1.0.0_2', 'current'])
})

test('pull() waits for a trial, and goes back itself when whoever tried dies', async () => {
  await using at = await open()
  const seen = await cutOffTrial(at)
  const same = await pullComponent(wanted('1.0.0'), at.ports, signal)
  assert.deepEqual([same.isSame, same.wasRestarted, seen.versions], [true, true, ['1.0.0']])
  assert.deepEqual(foldersOf(at), ['1.0.0', 'current'])
  const folder = join(at.home.paths.packages, 'echo')
  writeFileSync(join(folder, 'pending.json'), '{"back":"gone"}')
  assert.equal((await pullComponent(wanted('1.0.0'), at.ports, signal)).isSame, true) // with nothing to go back to
  assert.deepEqual(foldersOf(at), ['1.0.0', 'current'])
})

test('findUpdates() does not offer a version again that did not start, until one that is no older does', async () => {
  await using at = await open()
  await pullComponent(wanted('1.0.0'), at.ports, signal)
  at.running.add('echo')
  const failing = (how: CrabError, times: number) => {
    let left = times
    at.onRestart.now = async () => {
      left -= 1
      if (left >= 0) throw how
    }
    return assert.rejects(pullComponent(wanted('1.1.0'), at.ports, signal))
  }
  const found = async () => {
    const [{ version, failed } = {}] = await findUpdates(at.ports, signal)
    return [version, failed?.version, failed?.why]
  }
  await failing(new CrabError('cancelled', 'Cancelled'), 1)
  assert.deepEqual(await found(), ['1.1.0', undefined, undefined])
  await failing(new CrabError('unavailable', 'Cannot start echo: no systemd'), 2)
  assert.deepEqual(await found(), ['1.1.0', undefined, undefined]) // the one before does not start, either
  await failing(new CrabError('unavailable', 'Cannot have echo ready: it exited'), 1)
  assert.deepEqual(await found(), [undefined, '1.1.0', 'it exited'])
  await pullComponent({ kind: 'tarball', path: tarball }, at.ports, signal)
  assert.deepEqual(foldersOf(at), ['1.0.0_2', 'current', 'failed.json'])
  await pullComponent(wanted('1.1.0'), at.ports, signal) // whoever names it has it tried
  assert.deepEqual(foldersOf(at), ['1.1.0', 'current'])
})
