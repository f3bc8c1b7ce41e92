import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { guardSpec } from '../../../src/up/units/guard-spec.ts'
import { launchdPlist } from '../../../src/up/units/launchd-plist.ts'
import { systemdGuardUnit, systemdUnit } from '../../../src/up/units/systemd-unit.ts'
import { taskXml, toUtf16 } from '../../../src/up/units/task-xml.ts'
import {
  daemonSpec,
  ODD_ARGUMENTS,
  ODD_HOME,
  ODD_WINDOWS_HOME,
  USUAL_HOME,
  USUAL_WINDOWS_HOME,
  windowsLoop,
  windowsSpec,
} from './specs.ts'

const FOLDER = join(import.meta.dirname, '../../golden-units')
const usual = daemonSpec(USUAL_HOME)
const odd = daemonSpec(ODD_HOME, ...ODD_ARGUMENTS)
const WINDOWS_USER = 'DESK\\Zoë & Co'

/** Every kind of unit, for a usual home and for an odd one; the same on every system. */
const GOLDEN: Readonly<Record<string, string | Buffer>> = {
  'usual/ai.crabtalk.daemon.service': systemdUnit(usual),
  'usual/ai.crabtalk.daemon.plist': launchdPlist(usual, 'gui'),
  'usual/ai.crabtalk-guard.service': systemdGuardUnit(guardSpec(usual, [usual.argv[0]])),
  'usual/ai.crabtalk-guard.plist': launchdPlist(guardSpec(usual, [usual.argv[0]]), 'gui'),
  'usual/ai.crabtalk.daemon.xml': toUtf16(
    taskXml(windowsSpec(USUAL_WINDOWS_HOME), {
      action: windowsLoop(USUAL_WINDOWS_HOME),
      userId: 'DESK\\anna',
    }),
  ),
  'odd/ai.crabtalk.daemon.service': systemdUnit(odd),
  'odd/ai.crabtalk.daemon.plist': launchdPlist(odd, 'user'),
  'odd/ai.crabtalk-guard.service': systemdGuardUnit(guardSpec(odd, [odd.argv[0]])),
  'odd/ai.crabtalk.daemon.xml': toUtf16(
    taskXml(windowsSpec(ODD_WINDOWS_HOME), {
      action: windowsLoop(ODD_WINDOWS_HOME, 'a "b" \\" c\\', 'd\\', ''),
      userId: WINDOWS_USER,
    }),
  ),
}

for (const [name, unit] of Object.entries(GOLDEN)) {
  test(`${name} matches the golden file that npm run golden:units writes`, async () => {
    const path = join(FOLDER, name)
    const bytes = Buffer.from(unit)
    if (process.env['CRABTALK_GOLDEN'] === 'write') {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes)
    }
    const golden = await readFile(path)
    const encoding = name.endsWith('.xml') ? 'utf16le' : 'utf8'
    assert.equal(bytes.toString(encoding), golden.toString(encoding))
    assert.ok(bytes.equals(golden))
  })
}
