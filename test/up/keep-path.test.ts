import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergePaths } from '../../src/up/path-snapshot.ts'

/** What a service has, what the shell has, and what comes of it; only /gone is no directory. */
const CASES: [what: string, before: string | undefined, now: string, path: string, retained: string[]][] = [
  [
    'has only less of the same',
    '/opt/a:/usr/bin:/bin:/opt/b',
    '/usr/bin:/bin',
    '/opt/a:/usr/bin:/bin:/opt/b',
    ['/opt/a', '/opt/b'],
  ],
  ['has something of its own', '/opt/a:/usr/bin', '/opt/c:/usr/bin', '/opt/c:/usr/bin', []],
  ['has the same in another order', '/usr/bin:/bin', '/bin:/usr/bin', '/bin:/usr/bin', []],
  ['lacks what is gone', '/gone:/usr/bin', '/usr/bin', '/usr/bin', []],
  ['lacks what is gone, and more', '/gone:/opt/a:/usr/bin', '/usr/bin', '/opt/a:/usr/bin', ['/opt/a']],
  [
    'has a usual one more',
    '/opt/a:/usr/bin',
    '/usr/bin:/home/me/bin',
    '/opt/a:/usr/bin:/home/me/bin',
    ['/opt/a'],
  ],
  ['is the first to have a service', undefined, '/usr/bin', '/usr/bin', []],
]

for (const [what, before, now, path, retained] of CASES) {
  test(`mergePaths() of a shell that ${what}`, () => {
    const usual = '/home/me/bin:/usr/bin:/bin'
    const isDirectory = (folder: string) => folder !== '' && folder !== '/gone'
    assert.deepEqual(mergePaths({ before, now, usual, delimiter: ':', isDirectory }), { path, retained })
  })
}
