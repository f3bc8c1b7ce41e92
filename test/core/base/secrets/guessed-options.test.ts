import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactWords } from '../../../../src/core/base/secrets/redact.ts'

/** Command lines of unknown programs, each with the secret in braces. */
const SECRETS = [
  'srv -p{HUNTER2AAA}',
  'srv -k{aB3dE6gH9}',
  'srv -t {7f9c2ba4e88f827d616045507605853ed73b8093}',
  'srv -t{7f9c2ba4e88f827d616045507605853ed73b8093}',
  'srv -k {KKK7SECRET9BBB}',
  'srv -a {a1b2c3d4e5}',
  'srv -x {7f9c2ba4e88f827d616045507605853e}',
  'srv -T {aGVsbG8gd29ybGQ2aGVsbG8gd29ybGQ2aGVs==}',
  'srv --license {LICSECRETKK}',
  'srv --license={AAAA-BBBB-1234}',
  'srv --pin {1234PINSECRETWW}',
  'srv --pin {1234} x',
  'srv --pin={987654}',
  'srv --webhook https://hooks.slack.com/services/{T0ABCDEF1/B0ABCDEF2/abcdEFGHijklMNOPqrstUVWX}',
]
/** Words that are not secrets. */
const PLAIN = [
  'srv -p8080 -p 8080 -t 30 -k 5 -t30s -p 127.0.0.1:8080',
  'srv -t node:22-alpine -t node22alpine -p project-2 -k server2 -w /srv/a1b2c3d4e5',
  'srv -target ES2022 -targetES2022 -port8080x -timeout30s -stdio -s3bucket1a -Xmx2048M -std=c99',
  'srv -t x86_64-linux -a arm64v8 -s utf8mb4 -w my_project_2026 -t table_2026_01',
  'srv -c 7f9c2ba4e88f827d616045507605853ed73b8093 -r 7f9c2ba4e88f827d616045507605853ed73b8093',
  'srv --license MIT --license Apache-2.0 --license=BSD-3-Clause --license ./LICENSE.txt --license /etc/l.key',
  'srv --license enterprise --license --pin 17 --pin GPIO17 --pin 1.2.3 --pin --verbose',
  'srv -t 2026-11-22T10:00:00Z -k key1 -p 12345678 -p 20261122 -s main -a all -w 4 -t PRODUCTION',
  'ssh -p 2222 -k a1b2c3d4e5 h',
  'mkdir -p build2go3now',
  'srv https://hooks.slack.com/services/ https://api.slack.com/apps/A0ABCDEF1/general',
]
for (const line of SECRETS) {
  test(`an option of an unknown program hides a value that looks like a secret: ${line}`, () => {
    const plain = line.replaceAll(/[{}]/g, '')
    const shown = line.replaceAll(/\{.*?\}/g, '[secret]')
    assert.equal(redactWords(plain.split(' ')).join(' '), shown)
    assert.deepEqual(redactWords(['sh', '-c', `cd x && ${plain}`]), ['sh', '-c', `cd x && ${shown}`])
  })
}
for (const line of PLAIN) {
  test(`options with numbers, paths, versions and names are shown: ${line}`, () => {
    assert.equal(redactWords(line.split(' ')).join(' '), line)
  })
}
