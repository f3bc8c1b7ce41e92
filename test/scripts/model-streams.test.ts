import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { PATCHES, useJsonEvents, usePulledStreams, useTextChunks } from '../../scripts/sea/model-streams.ts'

const FILES = [
  'provider-utils/dist/index.js',
  'openai-compatible/dist/index.js',
  'openai/dist/internal/index.js',
  'anthropic/dist/internal/index.js',
  'google/dist/internal/index.js',
]

test('the patches fit the installed packages, and leave no TransformStream in the path of events', async () => {
  for (const file of FILES) {
    const url = new URL(`../../node_modules/@ai-sdk/${file}`, import.meta.url)
    const patches = PATCHES.filter(({ filter }) => filter.test(url.pathname))
    let text: string | undefined = await readFile(url, 'utf8')
    for (const { patch } of patches) text = text && patch(text, url.pathname)
    assert.ok(patches.length > 0 && text !== undefined, file)
    const isWire = !file.startsWith('provider-utils')
    assert.match(
      text,
      isWire ? /transformEvents\(\w+\)\(\(\{/ : /return readJsonEvents\(stream, createParser,/,
    )
    if (isWire) assert.doesNotMatch(text, /pipeThrough\(new TransformStream\(\{/, file)
  }
})

test('the patches reject modules that have changed', () => {
  for (const patch of [useJsonEvents, usePulledStreams, useTextChunks])
    assert.equal(patch('export const x = 1'), undefined)
})
