import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { build } from 'esbuild'
import type stringWidth from 'string-width'
import { packages } from '../../scripts/sea/packages.ts'
import { withLazySegmenter } from '../../scripts/sea/text-stack.ts'

const PATCHED = [
  'ink/build/line-update.js',
  'slice-ansi/tokenize-ansi.js',
  'wrap-ansi/index.js',
  '@alcalzone/ansi-tokenize/build/tokenize.js',
]

for (const name of PATCHED) {
  test(`withLazySegmenter() finds the segmenter of the installed ${name}`, async () => {
    const module = await readFile(new URL(`../../node_modules/${name}`, import.meta.url), 'utf8')
    assert.match(withLazySegmenter(module)!, /= lazySegmenter\(\(\) => new Intl\.Segmenter\(.*\)\);$/m)
  })
}

test('withLazySegmenter() rejects a module with no segmenter, or with several', () => {
  const one = 'const s = new Intl.Segmenter();\n'
  assert.notEqual(withLazySegmenter(one), undefined)
  assert.equal(withLazySegmenter(one + one), undefined)
  assert.equal(withLazySegmenter('const s = 1'), undefined)
})

test('packages leaves no code that creates a segmenter before there is text that is not plain', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `export * as wrap from 'wrap-ansi'; export * as slice from 'slice-ansi'; export { default } from 'string-width'`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    plugins: [packages],
  })
  const module: { exports: { default?: typeof stringWidth } } = { exports: {} }
  const made: unknown[] = []
  const Segmenter = class extends Intl.Segmenter {
    constructor(...args: ConstructorParameters<typeof Intl.Segmenter>) {
      super(...args)
      made.push(args)
    }
  }
  const run = new Function('module', 'exports', 'require', 'Intl', outputFiles[0]!.text)
  run(module, module.exports, createRequire(import.meta.url), { Segmenter })
  const width = module.exports.default!
  assert.deepEqual([width('plain \x1b[31mred\x1b[39m'), made.length], [9, 0])
  assert.deepEqual([width('👩‍👩‍👧 \u{1f980}'), made.length], [5, 1])
})
