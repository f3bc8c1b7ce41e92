import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import manifest from '../package.json' with { type: 'json' }
import { VERSION } from '../src/core/base/version.ts'

test('VERSION is the version of package.json', () => {
  assert.equal(VERSION, manifest.version)
})

test('VERSION is the newest entry of the changelog', async () => {
  const changelog = await readFile(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
  assert.equal(changelog.match(/^## \[?(\d+\.\d+\.\d+)/m)?.[1], VERSION)
})
