import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ServiceSpec } from '../../../src/up/types.ts'
import { launchdPlist } from '../../../src/up/units/launchd-plist.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { parsePlist } from '../../support/xml.ts'
import { daemonSpec, ODD_ARGUMENTS, ODD_HOME } from './specs.ts'
import { anyText } from './texts.ts'

const ODD_GOLDEN = join(import.meta.dirname, '../../golden-units/odd/ai.crabtalk.daemon.plist')
const odd = daemonSpec(ODD_HOME, ...ODD_ARGUMENTS)

function toJob({ label, argv, cwd, env, output }: ServiceSpec, session: string): object {
  return {
    Label: label,
    ProgramArguments: argv,
    WorkingDirectory: cwd,
    EnvironmentVariables: env,
    StandardOutPath: output,
    StandardErrorPath: output,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 20,
    ProcessType: 'Interactive',
    SoftResourceLimits: { NumberOfFiles: 8192 },
    LimitLoadToSessionType: session,
  }
}

test('launchdPlist() contains the spec, for a strict parser', async () => {
  assert.deepEqual(parsePlist(await readFile(ODD_GOLDEN, 'utf8')), toJob(odd, 'Background'))
})

test('launchdPlist() is loaded in the sessions of its domain', () => {
  assert.deepEqual(parsePlist(launchdPlist(odd, 'gui')), toJob(odd, 'Aqua'))
})

test('launchdPlist() contains any text that it accepts', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 4 }), anyText, (words, value) => {
      const spec = { ...daemonSpec('/h', ...words), env: { VALUE: value }, cwd: `/${value}` }
      assert.deepEqual(parsePlist(launchdPlist(spec, 'gui')), toJob(spec, 'Aqua'))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

if (spawnSync('python3', ['-c', 'import plistlib']).status === 0) {
  test("launchdPlist() is read the same by another language's property list parser", async () => {
    const script =
      'import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)'
    const { stdout } = spawnSync('python3', ['-c', script], { input: await readFile(ODD_GOLDEN) })
    assert.deepEqual(JSON.parse(stdout.toString()), toJob(odd, 'Background'))
  })
}
