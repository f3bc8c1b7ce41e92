import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergePaths } from '../../src/up/path-snapshot.ts'

/** The PATH of the service, the PATH of the shell, and the merged one; only /gone is not a directory. */
const CASES: [what: string, before: string | undefined, now: string, path: string, retained: string[]][] = [
  [
    'has a subset of the directories',
    '/opt/a:/usr/bin:/bin:/opt/b',
    '/usr/bin:/bin',
    '/opt/a:/usr/bin:/bin:/opt/b',
    ['/opt/a', '/opt/b'],
  ],
  ['has a directory of its own', '/opt/a:/usr/bin', '/opt/c:/usr/bin', '/opt/c:/usr/bin', []],
  ['has the same directories in another order', '/usr/bin:/bin', '/bin:/usr/bin', '/bin:/usr/bin', []],
  ['lacks a directory that is gone', '/gone:/usr/bin', '/usr/bin', '/usr/bin', []],
  [
    'lacks a directory that is gone, and another one',
    '/gone:/opt/a:/usr/bin',
    '/usr/bin',
    '/opt/a:/usr/bin',
    ['/opt/a'],
  ],
  [
    'has one more usual directory',
    '/opt/a:/usr/bin',
    '/usr/bin:/home/me/bin',
    '/opt/a:/usr/bin:/home/me/bin',
    ['/opt/a'],
  ],
  ['starts the service for the first time', undefined, '/usr/bin', '/usr/bin', []],
]

for (const [what, before, now, path, retained] of CASES) {
  test(`mergePaths() of a shell that ${what}`, () => {
    const usual = '/home/me/bin:/usr/bin:/bin'
    const isDirectory = (folder: string) => folder !== '' && folder !== '/gone'
    assert.deepEqual(mergePaths({ before, now, usual, delimiter: ':', isDirectory }), { path, retained })
  })
}
