import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { parseVariables } from '../../src/core/config/env-file-text.ts'
import { ownEnvFile, ownEnvText, ownVariables, withOwnEnv } from '../../src/up/own-env.ts'
import type { ServiceManager, ServiceSpec } from '../../src/up/types.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const TEXT = `# keys
ANTHROPIC_API_KEY='sk-1'
DICE_API_KEY="a b"   # of dice
https_proxy=http://proxy:1
TZ=Europe/Berlin
MY_DICE__LEVEL='high'
DICE__LEVEL='low'
PEM='line one
line two'
export OLD=1
`

test('ownEnvText() contains what a component asks for, what programs need, and variables with its prefix', () => {
  const grant = { service: 'my-dice', names: ['DICE_API_KEY', 'PEM', 'OLD', 'MISSING'] }
  assert.deepEqual(parseVariables(ownEnvText(TEXT, grant)), {
    ...{ DICE_API_KEY: 'a b', https_proxy: 'http://proxy:1', TZ: 'Europe/Berlin' },
    ...{ LEVEL: 'high', PEM: 'line one\nline two', OLD: '1' },
  })
  assert.deepEqual(ownVariables(TEXT, { service: 'dice', names: [] }), ['LEVEL', 'TZ', 'https_proxy'])
  assert.deepEqual(ownVariables('', grant), [])
})

test('withOwnEnv() writes the variables of a component before it starts, and nothing for other services', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  await mkdir(paths.home, { recursive: true })
  await writeFile(paths.serviceEnv, TEXT)
  const envFile = ownEnvFile(paths, 'dice')
  const snapshots: (string | undefined)[] = []
  const note = async ({ envFile: file }: ServiceSpec) => {
    snapshots.push(await readFile(file, 'utf8').catch(() => undefined))
  }
  const manager = withOwnEnv({
    start: note,
    restart: note,
    enable: note,
    kind: 'supervisor',
  } as never as ServiceManager)
  const spec = { name: 'dice', envFile, grant: { service: 'dice', names: ['PEM'], from: paths.serviceEnv } }
  const signal = new AbortController().signal
  await manager.start(spec as never, signal)
  assert.deepEqual(Object.keys(parseVariables(snapshots[0]!)), ['LEVEL', 'PEM', 'TZ', 'https_proxy'])
  assert.equal((await stat(envFile)).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o600)
  await writeFile(paths.serviceEnv, 'DICE__A=1\n')
  await manager.restart(spec as never, signal)
  assert.deepEqual(parseVariables(snapshots[1]!), { A: '1' })
  await manager.start({ name: 'daemon', envFile: paths.serviceEnv } as never, signal)
  assert.equal(snapshots[2], 'DICE__A=1\n')
})
