import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keepEnglish } from '../../scripts/sea/zod-locales.ts'

const list = await readFile(
  fileURLToPath(new URL('../../node_modules/zod/v4/locales/index.js', import.meta.url)),
  'utf8',
)

test('keepEnglish() leaves one locale of the installed zod', () => {
  assert.equal(keepEnglish(list), 'export { default as en } from "./en.js";\n')
})

test('keepEnglish() rejects anything but the plain list it knows', () => {
  for (const changed of [`${list}export const more = 1\n`, list.replace('"./en.js"', '"./english.js"'), '']) {
    assert.equal(keepEnglish(changed), undefined)
  }
})
