import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { splitConstants } from '../../scripts/sea/wire-constants.ts'

const GENERATED = join(import.meta.dirname, '../../src/core/protocol/crabtalk.generated.ts')

test('splitConstants() moves every enum of the generated file, and nothing else', async () => {
  const generated = await readFile(GENERATED, 'utf8')
  const { constants, codec } = splitConstants(generated)
  const enums = generated.matchAll(/^export type (\w+) = typeof \1\[/gm).map(([, name]) => name)
  const moved = constants.matchAll(/^export const (\w+) = /gm).map(([, name]) => name)
  assert.deepEqual([...moved], [...enums])
  assert.match(codec, /^export const ClientMessage/m)
})

test('splitConstants() throws when it finds no enum', () => {
  assert.throws(() => splitConstants('export enum A { B }'), /enums are written in a new way/)
})
