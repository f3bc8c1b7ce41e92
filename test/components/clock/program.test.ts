import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { packComponent } from '../../../scripts/components/pack.ts'
import { HTTP_CLIENTS } from '../../support/component/http-clients.ts'
import { installedNodes, pidAt, startProgram } from '../../support/component/programs.ts'
import { madeHome } from '../../support/component/served-component.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const work: { folder?: Awaited<ReturnType<typeof mkdtempDisposable>>; script: string } = { script: '' }

before(async () => {
  work.folder = await mkdtempDisposable(join(tmpdir(), 'crab clock '))
  await packComponent('clock', work.folder.path)
  work.script = join(work.folder.path, 'crabtalk-clock/clock.js')
})
after(() => work.folder?.remove())

test('the package of the clock is one program without dependencies', async () => {
  const { path } = work.folder!
  const tarball = readdirSync(path).find((file) => file.endsWith('.tgz'))!
  const files = execFileSync('tar', ['-tzf', join(path, tarball)])
    .toString()
    .trim()
    .split('\n')
  assert.deepEqual(
    files.toSorted(),
    ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES', 'clock.js', 'package.json', 'sbom.cdx.json'].map(
      (file) => `package/${file}`,
    ),
  )
  const about = JSON.parse(readFileSync(join(path, 'crabtalk-clock/package.json'), 'utf8'))
  assert.deepEqual(
    [about.bin, about.dependencies, about.private],
    [{ 'crabtalk-clock': 'clock.js' }, undefined, undefined],
  )
})

for (const [version, node] of installedNodes()) {
  test(`the clock serves on Node ${version}, and removes its files when it is terminated`, async () => {
    await using home = await madeHome()
    const { paths } = home
    await using clock = startProgram(work.script, { paths, node })
    const port = await clock.port()
    const key = readFileSync(join(paths.run, 'clock.key'), 'utf8').trim()
    await using host = await HTTP_CLIENTS['SDK 2.x, 2026-07-28']!({
      url: new URL(`http://127.0.0.1:${port}/mcp`),
      key,
    })
    const { content } = await host.call('now', { zones: ['Europe/Berlin'] })
    assert.match(JSON.stringify(content), /\d\d:\d\d\+0[12]:00 Europe\/Berlin/)
    clock.child.kill('SIGTERM')
    assert.deepEqual([await clock.ended, clock.said(), readdirSync(paths.run)], [0, '', []])
    const lines = readFileSync(join(paths.logs, 'clock.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ level, pid, message }) => [level, pid, message]),
      [`clock 0.1.0 serves`, 'a call', 'clock ends'].map((message) => ['info', clock.child.pid, message]),
    )
  })
}

test('every termination signal ends it', async () => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    await using home = await madeHome()
    await using clock = startProgram(work.script, { paths: home.paths })
    await clock.port()
    clock.child.kill(signal)
    assert.deepEqual([await clock.ended, readdirSync(home.paths.run)], [0, []])
  }
})

test('a killed clock does not block the next one, a live clock does', async () => {
  await using home = await madeHome()
  const { paths } = home
  await using first = startProgram(work.script, { paths })
  await first.port()
  first.child.kill('SIGKILL')
  await first.ended
  assert.deepEqual(readdirSync(paths.run), ['clock.key', 'clock.port'])
  await using second = startProgram(work.script, { paths })
  const port = await second.port()
  await using third = startProgram(work.script, { paths })
  assert.equal(await third.ended, 1)
  assert.equal(
    third.said(),
    `clock: Cannot start clock: it is already running, pid ${second.child.pid}, port ${port}\nhint: stop it first: crabup clock stop\n`,
  )
  assert.equal(await pidAt(port), second.child.pid)
})

test('startup errors are printed on standard error, with the exit code of the error table', async () => {
  await using nowhere = await temporaryHome()
  await using lost = startProgram(work.script, { paths: nowhere.paths })
  assert.equal(await lost.ended, 78)
  assert.match(lost.said(), /^clock: Cannot start clock: the home .* does not exist\nhint: set CRABTALK_HOME/)
  await using wrong = startProgram(work.script, { paths: nowhere.paths, args: ['--port=1'] })
  assert.equal(await wrong.ended, 2)
  assert.match(wrong.said(), /it takes no arguments, but got "--port=1"/)
})

test('the clock prints its version and its tools', () => {
  const ask = (option: string) => execFileSync(process.execPath, [work.script, option]).toString()
  assert.equal(ask('--version'), '0.1.0\n')
  assert.match(ask('--help'), /^clock 0\.1\.0: [\s\S]*\n {2}timer_wait +Waits until a timer ends/)
})
