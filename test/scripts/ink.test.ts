import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { build } from 'esbuild'
import type Yoga from 'yoga-layout'
import {
  startedAtOnce,
  withBytesApart,
  withoutAssert,
  withoutDevelopment,
  withoutPrograms,
} from '../../scripts/sea/ink.ts'
import { packages } from '../../scripts/sea/packages.ts'

const ROOT = import.meta.dirname
const [reconciler, utils, yoga, loader] = (await Promise.all(
  [
    'ink/build/reconciler.js',
    'ink/build/utils.js',
    'yoga-layout/dist/src/index.js',
    'yoga-layout/dist/binaries/yoga-wasm-base64-esm.js',
  ].map((path) => readFile(new URL(`../../node_modules/${path}`, import.meta.url), 'utf8')),
)) as [string, string, string, string]

test('withoutDevelopment() removes the development code from the installed Ink', () => {
  const ours = withoutDevelopment(reconciler)!
  assert.ok(!ours.includes("process.env['DEV']"))
  assert.equal(ours.match(/^if \(false\) \{$/gm)?.length, 2)
})

test('withoutPrograms() removes the programs that determine the size of a window from the installed Ink', () => {
  assert.doesNotMatch(withoutPrograms(utils)!, /import/)
  assert.equal(withoutPrograms(utils.replace('terminal-size', 'window-size')), undefined)
})

test('withoutAssert() removes node:assert from the installed signal-exit', async () => {
  const url = new URL('../../node_modules/signal-exit/index.js', import.meta.url)
  const installed = await readFile(url, 'utf8')
  assert.doesNotMatch(withoutAssert(installed)!, /require\('assert'\)/)
  assert.equal(withoutAssert(installed.replaceAll('assert', 'check')), undefined)
})

test('packages makes a module of the installed yoga that works synchronously', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "export * from 'yoga-layout'; export { default } from 'yoga-layout'",
      resolveDir: ROOT,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs', // rejects top-level await
    plugins: [packages],
  })
  const text = outputFiles[0]!.text
  assert.doesNotMatch(text, /import\.meta|base64,A/)
  const module: { exports: { default?: typeof Yoga } } = { exports: {} }
  new Function('module', 'exports', text)(module, module.exports)
  const node = module.exports.default!.Node.create()
  node.setWidth(40)
  node.calculateLayout(undefined, undefined)
  assert.equal(node.getComputedWidth(), 40)
})

test('the patches of Ink reject files that have changed', () => {
  for (const changed of [reconciler.replace("process.env['DEV']", 'dev'), reconciler + reconciler, '']) {
    assert.equal(withoutDevelopment(changed), undefined)
  }
  for (const changed of [
    yoga.replace('await loadYoga()', 'await load()'),
    yoga.replace('binaries', 'b'),
    '',
  ]) {
    assert.equal(startedAtOnce(changed), undefined)
  }
  for (const changed of [
    loader.replaceAll('h.instantiateWasm', 'h.x'),
    loader.replace('import.meta.url', '""'),
    '',
  ]) {
    assert.equal(withBytesApart(changed), undefined)
  }
})
