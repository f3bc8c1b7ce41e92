import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { Script } from 'node:vm'
import { chunkLoader, WRAPPER } from '../../bin/chunks.ts'

const builtin = createRequire(import.meta.url)

test('chunkLoader() runs a chunk once, on its first import, and leaves built-ins to Node', async () => {
  const ran: string[] = []
  const load = chunkLoader(
    {
      ...program({
        'a.js': 'const { sep } = require("node:path").posix; __reveal({ b: () => require("./b.js"), sep })',
        'b.js': 'const late = __later("./a.js"); __reveal({}, { late: () => late })',
      }),
      compiled: (id) => ran.push(id),
    },
    builtin,
  )
  const a = load('./a.js') as { b(): { late: Promise<unknown> }; sep: string }
  assert.deepEqual(ran, ['a.js'])
  assert.equal(a.sep, '/')
  assert.equal(a.b(), a.b())
  assert.equal(await a.b().late, a)
  assert.deepEqual(ran, ['a.js', 'b.js'])
})

test('chunkLoader() runs a chunk again that has thrown', () => {
  let isBroken = true
  const load = chunkLoader(
    program({
      'a.js': 'require("broken"); __reveal({ whole: 1 })',
      'b.js': 'require("./a.js")',
    }),
    () => {
      if (isBroken) throw new Error('not now')
    },
  )
  assert.throws(() => load('./b.js'), /not now/)
  assert.throws(() => load('./a.js'), /not now/)
  isBroken = false
  assert.equal((load('./a.js') as { whole?: number }).whole, 1)
})

test('chunkLoader() reports whether V8 accepted a code cache', () => {
  const sources = program({ 'a.js': '__reveal({ x: 1 })', 'b.js': '__reveal({ y: 2 })' })
  const scripts: Script[] = []
  const compiled = (_: string, script: Script) => scripts.push(script)
  chunkLoader({ ...sources, compiled }, builtin)('./a.js')
  const cache = scripts[0]!.createCachedData()
  const load = chunkLoader(
    { ...sources, cache: (id) => (id === 'a.js' ? cache : spoilt(cache)), compiled },
    builtin,
  )
  load('./a.js')
  load('./b.js')
  assert.deepEqual(
    scripts.map(({ cachedDataRejected }) => cachedDataRejected),
    [undefined, false, true],
  )
})

function spoilt(cache: Buffer): Buffer {
  return Buffer.from(cache).fill(0, 0, 16)
}

function program(chunks: Record<string, string>) {
  return {
    source: (id: string) => WRAPPER[0] + chunks[id] + WRAPPER[1],
    cache: (): Uint8Array | undefined => undefined,
  }
}
