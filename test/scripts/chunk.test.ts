import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkLoader } from '../../bin/chunks.ts'
import { toChunk } from '../../scripts/sea/chunk.ts'

const MODULES = {
  'main.js': `import { count, increase as more } from "./counter.js";
import * as path from "node:path";
var { sep } = path, word = "text", unset, shadowed = 1;
var set = () => { unset = "set"; };
function inner(shadowed) { shadowed = 2; return shadowed; }
async function later() { return await import("./late.js"); }
function counted() { more(); return count; }
export {
  counted,
  later,
  path as default,
  count,
  sep,
  word,
  unset,
  shadowed,
  set,
  inner
};
`,
  'counter.js': `var count = 0;
function increase() { count++; }
export {
  count,
  increase
};
`,
  'late.js': `var word = "export {\\n  no\\n};\\n";
export {
  word as said
};
`,
}

async function loadMain() {
  const chunks = new Map<string, string>()
  for (const [name, text] of Object.entries(MODULES)) chunks.set(name, await toChunk(name, text))
  const compiled: string[] = []
  const load = chunkLoader(
    { source: (id) => chunks.get(id)!, cache: () => undefined, compiled: (id) => compiled.push(id) },
    (id) => process.getBuiltinModule(id),
  )
  const main = load('./main.js') as {
    counted(): number
    later(): Promise<{ said: string }>
    default: { sep: string }
    count: number
    unset?: string
    set(): void
  }
  return { main, compiled }
}

test('toChunk() creates chunks that share their live exports', async () => {
  const { main } = await loadMain()
  assert.deepEqual([main.counted(), main.counted(), main.count], [1, 2, 2])
  assert.equal(typeof main.default.sep, 'string')
  main.set()
  assert.equal(main.unset, 'set')
  assert.deepEqual(
    Object.keys(main).toSorted(),
    ['counted', 'later', 'default', 'count', 'sep', 'word', 'unset', 'shadowed', 'set', 'inner'].toSorted(),
  )
})

test('toChunk() turns exports that are never reassigned into values', async () => {
  const { main } = await loadMain()
  const values = Object.entries(Object.getOwnPropertyDescriptors(main)).filter(([, { get }]) => !get)
  assert.deepEqual(values.map(([name]) => name).toSorted(), ['counted', 'inner', 'later', 'set', 'word'])
})

test('toChunk() keeps later imports lazy', async () => {
  const { main, compiled } = await loadMain()
  assert.deepEqual(compiled, ['main.js', 'counter.js'])
  assert.equal((await main.later()).said, 'export {\n  no\n};\n')
})

test('toChunk() rejects import.meta, and exports and clocks that it does not know', async () => {
  await assert.rejects(toChunk('a.js', 'console.log(import.meta.url)\n'), /import\.meta means nothing/)
  await assert.rejects(toChunk('a.js', 'export const a = 1\n'), /exports in new ways/)
  await assert.rejects(toChunk('a.js', 'performance2.mark(1)\n'), /clock\.ts has no mark/)
})

test('toChunk() creates text of one byte per character, with regular expressions that match the same', async () => {
  const module = `var sign = /^(?:✖|😀|×|…$)/u, more = "✖";
export {
  sign,
  more
};
`
  const chunk = await toChunk('signs.js', module)
  assert.equal(Buffer.from(chunk, 'latin1').toString('latin1'), chunk)
  const load = chunkLoader(
    { source: () => Buffer.from(chunk, 'latin1').toString('latin1'), cache: () => undefined, compiled() {} },
    (id) => process.getBuiltinModule(id),
  )
  const { sign, more } = load('./signs.js') as { sign: RegExp; more: string }
  assert.deepEqual(
    ['✖ a', '😀 b', '× c', '…', '\u0016 d'].map((text) => sign.test(text)),
    [true, true, true, true, false],
  )
  assert.equal(more, '✖')
})
