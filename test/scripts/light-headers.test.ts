import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { useLightHeaders } from '../../scripts/sea/light-headers.ts'

const installed = new URL('../../node_modules/@ai-sdk/provider-utils/dist/index.js', import.meta.url)

test('useLightHeaders() puts our Headers into the installed @ai-sdk/provider-utils', async () => {
  const module = await readFile(installed, 'utf8')
  const replaced = useLightHeaders(module)!
  assert.match(replaced, /^import \{ LightHeaders as Headers \} from ".*light-headers\.ts"\n/)
  assert.ok(replaced.endsWith(module))
})

test('useLightHeaders() rejects a module that creates no Headers', () => {
  assert.equal(useLightHeaders('export const x = 1'), undefined)
})
