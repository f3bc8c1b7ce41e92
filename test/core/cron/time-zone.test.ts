import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtempDisposable, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { zoneFollower } from '../../../src/core/cron/time-zone.ts'

const PROGRAM = fileURLToPath(new URL('time-zone-program.ts', import.meta.url))
const run = promisify(execFile)

test('zoneFollower() reports a zone once, when the machine changes it', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const file = join(folder.path, 'localtime')
  const moveTo = async (zone: string) => {
    await symlink(zone, `${file}.new`)
    await rename(`${file}.new`, file)
  }
  await moveTo('Europe/Paris')
  process.env['TZ'] = 'Europe/Paris'
  let zone = ''
  let checks = 0
  const rereadTimeZone = () => {
    checks += 1
    process.env['TZ'] = zone
  }
  const moved = zoneFollower({ rereadTimeZone }, file)
  assert.deepEqual([await moved(), checks], [undefined, 0])
  zone = 'Asia/Tokyo'
  await moveTo(zone)
  assert.deepEqual([await moved(), checks], ['Asia/Tokyo', 1])
  assert.deepEqual([await moved(), checks], [undefined, 1])
  await moveTo(zone) // another link to the same zone
  assert.deepEqual([await moved(), checks], [undefined, 2])
  await rm(file)
  zone = 'Europe/Paris'
  assert.deepEqual([await moved(), checks], ['Europe/Paris', 3]) // the change is unknown, so it asks
})

test('rereadTimeZone() adopts the zone of the machine, unless the environment sets one', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const etc = join(folder.path, 'etc')
  await mkdir(etc)
  const script = 'mount --bind "$0" /etc && exec "$@"'
  const inside = async (env: NodeJS.ProcessEnv) => {
    const program = [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM]
    const { stdout } = await run('unshare', ['--mount', 'sh', '-c', script, etc, ...program], { env })
    return stdout
  }
  const { TZ: _, ...env } = process.env
  const zone = await inside(env).catch(() => undefined)
  if (zone === undefined) return t.diagnostic('this user may not mount')
  assert.equal(zone, 'undefined Asia/Tokyo 9\n')
  for (const TZ of ['UTC', '']) assert.equal(await inside({ ...env, TZ }), 'undefined undefined 0\n') // both are UTC
})
