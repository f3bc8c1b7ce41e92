import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { taskXml, toCommandLine, toUtf16 } from '../../../src/up/units/task-xml.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { splitCommandLine } from '../../support/windows-command-line.ts'
import { elementAt, parseXml, type XmlElement } from '../../support/xml.ts'
import { ODD_WINDOWS_HOME, windowsLoop, windowsSpec } from './specs.ts'
import { anyText } from './texts.ts'

const ODD_GOLDEN = join(import.meta.dirname, '../../golden-units/odd/ai.crabtalk.daemon.xml')
const spec = windowsSpec(ODD_WINDOWS_HOME)

function textAt(task: XmlElement, ...path: readonly string[]): string {
  return elementAt(task, ...path).text
}

test('taskXml() is UTF-16LE after a byte order mark, with Windows line ends', async () => {
  const bytes = await readFile(ODD_GOLDEN)
  assert.deepEqual([...bytes.subarray(0, 4)], [0xff, 0xfe, 0x3c, 0])
  const lines = bytes.toString('utf16le').split('\n')
  assert.ok(lines.slice(0, -1).every((line) => line.endsWith('\r')))
})

test('taskXml() runs our loop as the user, without a time limit', async () => {
  const task = parseXml((await readFile(ODD_GOLDEN)).toString('utf16le').slice(1))
  assert.deepEqual(
    { ...task.attributes },
    {
      version: '1.2',
      xmlns: 'http://schemas.microsoft.com/windows/2004/02/mit/task',
    },
  )
  assert.equal(textAt(task, 'Triggers', 'LogonTrigger', 'UserId'), 'DESK\\Zoë & Co')
  assert.equal(textAt(task, 'Principals', 'Principal', 'UserId'), 'DESK\\Zoë & Co')
  assert.equal(textAt(task, 'Principals', 'Principal', 'RunLevel'), 'LeastPrivilege')
  assert.equal(textAt(task, 'Settings', 'ExecutionTimeLimit'), 'PT0S')
  assert.equal(textAt(task, 'Settings', 'MultipleInstancesPolicy'), 'IgnoreNew')
  assert.equal(textAt(task, 'Actions', 'Exec', 'Command'), '%SystemRoot%\\System32\\conhost.exe')
  assert.equal(textAt(task, 'Actions', 'Exec', 'WorkingDirectory'), ODD_WINDOWS_HOME)
  const words = splitCommandLine(textAt(task, 'Actions', 'Exec', 'Arguments'))
  assert.deepEqual(words, ['--headless', ...windowsLoop(ODD_WINDOWS_HOME, 'a "b" \\" c\\', 'd\\', '')])
})

test('toCommandLine() splits into the same arguments again, for any arguments', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 5 }), (words) => {
      assert.deepEqual(splitCommandLine(toCommandLine(words)), words)
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('taskXml() rejects what Windows would expand as a variable', () => {
  const settings = { action: ['C:\\%TEMP%\\x.exe'] as [string], userId: 'anna' }
  assert.throws(() => taskXml(spec, settings), {
    kind: 'invalid',
    message: /ai\.crabtalk\.daemon.*percent/,
  })
})

if (spawnSync('python3', ['-c', 'import xml.etree.ElementTree']).status === 0) {
  test('toUtf16() is what an XML parser reads by its declaration', async () => {
    const script =
      'import sys, xml.etree.ElementTree as e; print(e.fromstring(sys.stdin.buffer.read()).tag, end="")'
    const xml = toUtf16(taskXml(spec, { action: ['C:\\größe.exe'], userId: 'anna' }))
    const { stdout, stderr } = spawnSync('python3', ['-c', script], { input: xml })
    assert.equal(
      stdout.toString(),
      '{http://schemas.microsoft.com/windows/2004/02/mit/task}Task',
      stderr.toString(),
    )
  })
}
