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
/** The tarball of version 1.0.0. */
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

interface TrialHome extends TestPorts, AsyncDisposable {
  home: TemporaryHome
}

async function open(): Promise<TrialHome> {
  const home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  const testHost = testPorts({ paths: home.paths, registry, home: home.paths.home })
  return { ...testHost, home, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() }
}

function echoSpec(version: string) {
  return { kind: 'registry', package: 'crabtalk-echo', version } as const
}

function listFolders({ home }: TrialHome): string[] {
  return readdirSync(join(home.paths.packages, 'echo')).toSorted()
}

test('pull() switches a running service to the new version, and back when it does not start', async () => {
  await using at = await open()
  await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  at.running.add('echo')
  const restarts: (string | undefined)[] = []
  at.onRestart.now = async () => {
    restarts.push(installedService(at.home.paths, 'echo')?.version)
    if (restarts.length === 1)
      throw new CrabError('unavailable', 'echo is not ready', { hint: 'its last lines' })
  }
  const failed = pullComponent(echoSpec('1.1.0'), at.ports, signal)
  await assert.rejects(failed, {
    kind: 'unavailable',
    message: 'Cannot change echo to 1.1.0: echo is not ready; 1.0.0 runs again',
    hint: 'its last lines',
  })
  assert.deepEqual(restarts, ['1.1.0', '1.0.0'])
  assert.deepEqual(listFolders(at), ['1.0.0', 'current', 'failed.json'])
  const pulled = await pullComponent(echoSpec('1.1.0'), at.ports, signal)
  assert.deepEqual([pulled.before, pulled.wasRestarted], ['1.0.0', true])
  assert.deepEqual(listFolders(at), ['1.1.0', 'current'])
})

test('pull() repairs what an interrupted trial of a new version has left', async () => {
  await using at = await open()
  const folder = join(at.home.paths.packages, 'echo')
  await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  await at.home.write('packages/echo/1.1.0/crabup.json', 'half of it')
  await rm(join(folder, 'current'))
  symlinkSync('1.1.0', join(folder, 'current'))
  writeFileSync(join(folder, 'pending.json'), '{"back":"1.0.0"}')
  await mkdir(join(at.home.paths.packages, '.staging', '999999999-01'), { recursive: true })
  assert.deepEqual(brokenPackages(at.home.paths), ['echo'])
  const pulled = await pullComponent(echoSpec('1.1.0'), at.ports, signal)
  assert.equal(pulled.before, '1.0.0') // the rollback record was removed first
  assert.equal(readlinkSync(join(folder, 'current')), '1.1.0')
  assert.equal(installedService(at.home.paths, 'echo')?.version, '1.1.0')
  assert.deepEqual(listFolders(at), ['1.1.0', 'current'])
  assert.deepEqual(readdirSync(join(at.home.paths.packages, '.staging')), [])
})

/** Leaves `echo` as an interrupted trial of 1.1.0 would: that version is current, and runs. */
async function interruptTrial(at: TrialHome): Promise<{ versions: (string | undefined)[] }> {
  await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  const folder = join(at.home.paths.packages, 'echo')
  await at.home.write(
    'packages/echo/1.1.0/crabup.json',
    readFileSync(join(folder, '1.0.0/crabup.json'), 'utf8'),
  )
  await switchVersion(folder, '1.1.0', 'linux')
  await writeRollbackRecord(folder, { back: '1.0.0', tried: '1.1.0' })
  at.running.add('echo')
  const restarts = { versions: [] as (string | undefined)[] }
  at.onRestart.now = async () => void restarts.versions.push(readlinkSync(join(folder, 'current')))
  return restarts
}

test('recoverUpdates() switches back, restarts the service, and removes the version that was tried', async () => {
  await using at = await open()
  const restarts = await interruptTrial(at)
  at.locked.add('package:echo')
  assert.deepEqual(await recoverUpdates(at.ports, signal), []) // the trial is running
  assert.deepEqual(listFolders(at), ['1.0.0', '1.1.0', 'current', 'pending.json'])
  at.locked.clear()
  const [ended] = await recoverUpdates(at.ports, signal)
  assert.deepEqual(ended, { name: 'echo', tried: '1.1.0', version: '1.0.0', wasRestarted: true })
  assert.deepEqual([restarts.versions, listFolders(at)], [['1.0.0'], ['1.0.0', 'current']])
  assert.deepEqual(await recoverUpdates(at.ports, signal), [])
  assert.equal((await findUpdates(at.ports, signal))[0]?.version, '1.1.0') // it has not failed
})

test('recoverUpdates() keeps the record when it fails, and reports a service that does not start', async () => {
  await using at = await open()
  const restarts = await interruptTrial(at)
  const dying = {
    ...at.ports.services,
    isRunning: () => Promise.reject(new CrabError('unavailable', 'no bus')),
  }
  await assert.rejects(recoverUpdates({ ...at.ports, services: dying }, signal), { message: 'no bus' })
  assert.deepEqual(listFolders(at), ['1.0.0', '1.1.0', 'current', 'pending.json'])
  assert.equal(installedService(at.home.paths, 'echo')?.version, '1.0.0')
  at.onRestart.now = () => Promise.reject(new CrabError('unavailable', 'echo is not ready'))
  const [ended] = await recoverUpdates(at.ports, signal)
  assert.deepEqual(
    [ended?.failure?.message, ended?.wasRestarted, restarts.versions],
    ['echo is not ready', true, []],
  )
  assert.deepEqual(listFolders(at), ['1.0.0', 'current'])
})

test('recoverUpdates() starts what has failed meanwhile, but not what the user has stopped', async () => {
  await using at = await open()
  const restarts = await interruptTrial(at)
  at.running.clear()
  assert.equal((await recoverUpdates(at.ports, signal))[0]?.wasRestarted, false)
  await interruptTrial(at)
  at.running.clear()
  at.failed.add('echo')
  assert.equal((await recoverUpdates(at.ports, signal))[0]?.wasRestarted, true)
  assert.deepEqual([restarts.versions, listFolders(at)], [[], ['1.0.0', 'current']])
})

test('revertTrials() makes the previous version current, and leaves the rest to recoverUpdates()', async () => {
  await using at = await open()
  const restarts = await interruptTrial(at)
  await revertTrials(at.ports, async (resource) => resource === 'package:echo')
  const readCurrent = () => readlinkSync(join(at.home.paths.packages, 'echo/current'))
  assert.equal(readCurrent(), '1.1.0')
  await revertTrials(at.ports, async () => false)
  assert.deepEqual([readCurrent(), restarts.versions], ['1.0.0', []])
  assert.equal((await recoverUpdates(at.ports, signal)).length, 1)
})

test('pull() installs a version again whose program is missing', async () => {
  await using at = await open()
  await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  await rm(installedService(at.home.paths, 'echo')!.script)
  const pulled = await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  assert.equal(pulled.isSame, false)
  assert.ok(existsSync(installedService(at.home.paths, 'echo')!.script))
  assert.deepEqual(listFolders(at), ['1.0.0_2', 'current'])
})

test('pull() waits for a trial, and switches back itself when the process that tried dies', async () => {
  await using at = await open()
  const restarts = await interruptTrial(at)
  const same = await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  assert.deepEqual([same.isSame, same.wasRestarted, restarts.versions], [true, true, ['1.0.0']])
  assert.deepEqual(listFolders(at), ['1.0.0', 'current'])
  const folder = join(at.home.paths.packages, 'echo')
  writeFileSync(join(folder, 'pending.json'), '{"back":"gone"}')
  assert.equal((await pullComponent(echoSpec('1.0.0'), at.ports, signal)).isSame, true) // there is no version to return to
  assert.deepEqual(listFolders(at), ['1.0.0', 'current'])
})

test('findUpdates() does not offer a version that failed to start, until one that is at least as new starts', async () => {
  await using at = await open()
  await pullComponent(echoSpec('1.0.0'), at.ports, signal)
  at.running.add('echo')
  const failing = (how: CrabError, times: number) => {
    let left = times
    at.onRestart.now = async () => {
      left -= 1
      if (left >= 0) throw how
    }
    return assert.rejects(pullComponent(echoSpec('1.1.0'), at.ports, signal))
  }
  const found = async () => {
    const [{ version, failed } = {}] = await findUpdates(at.ports, signal)
    return [version, failed?.version, failed?.why]
  }
  await failing(new CrabError('cancelled', 'Cancelled'), 1)
  assert.deepEqual(await found(), ['1.1.0', undefined, undefined])
  await failing(new CrabError('unavailable', 'Cannot start echo: no systemd'), 2)
  assert.deepEqual(await found(), ['1.1.0', undefined, undefined]) // the previous one does not start, either
  await failing(new CrabError('unavailable', 'Cannot have echo ready: it exited'), 1)
  assert.deepEqual(await found(), [undefined, '1.1.0', 'it exited'])
  await pullComponent({ kind: 'tarball', path: tarball }, at.ports, signal)
  assert.deepEqual(listFolders(at), ['1.0.0_2', 'current', 'failed.json'])
  await pullComponent(echoSpec('1.1.0'), at.ports, signal) // a version that is named explicitly is tried
  assert.deepEqual(listFolders(at), ['1.1.0', 'current'])
})
