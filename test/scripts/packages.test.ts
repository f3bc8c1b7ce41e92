import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from 'esbuild'
import { applyPatches, packages } from '../../scripts/sea/packages.ts'
import { makeTree } from '../support/trees.ts'

test('applyPatches() fails when a file has changed since its patch was made', () => {
  for (const path of [
    '/x/node_modules/ink/build/utils.js',
    'C:\\x\\node_modules\\zod\\v4\\locales\\index.js',
  ]) {
    assert.throws(
      () => applyPatches(path, 'export const x = 1'),
      /^Error: Cannot bundle .+: it has changed; adapt /,
    )
  }
  assert.equal(applyPatches('/x/node_modules/other/index.js', 'text'), 'text')
})

test('applyPatches() does not allow copies of built-ins', () => {
  const module =
    "import process from 'node:process';\nimport fs from 'node:fs';\nimport { x } from 'node:os';\n"
  assert.equal(
    applyPatches('/x/node_modules/other/index.js', module),
    '\nconst fs = globalThis.process.getBuiltinModule("node:fs");\nimport { x } from \'node:os\';\n',
  )
})

test('packages shortens internal names of packages, and none of ours', async () => {
  const module = (word: string) => `
    function inside${word}(argument${word}) { return argument${word} + 1 }
    export function shown${word}(n) { return inside${word}(n) }`
  await using tree = await makeTree({
    'main.js': `import { shownTheirs } from 'theirs'\n${module('Ours')}\nconsole.log(shownTheirs(1), shownOurs(1))`,
    'node_modules/theirs/package.json': '{"name":"theirs","type":"module","exports":"./index.js"}',
    'node_modules/theirs/index.js': module('Theirs'),
  })
  const { outputFiles } = await build({
    entryPoints: [tree.path('main.js')],
    bundle: true,
    write: false,
    format: 'esm',
    plugins: [packages],
  })
  const text = outputFiles[0]!.text
  for (const name of ['insideOurs', 'argumentOurs', 'shownOurs']) assert.ok(text.includes(name))
  for (const gone of ['insideTheirs', 'argumentTheirs']) assert.ok(!text.includes(gone))
})
