import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { build, type Metafile } from 'esbuild'
import type { Component } from '../../scripts/notices/component.ts'
import { NOTICE_FILES, writeNotices } from '../../scripts/notices/files.ts'
import { nodeComponent, ripgrepComponents, ripgrepNotices } from '../../scripts/notices/native.ts'
import { bundledFolders, npmComponents } from '../../scripts/notices/npm.ts'
import { renderNotices } from '../../scripts/notices/render.ts'
import { renderSbom } from '../../scripts/notices/sbom.ts'
import { bundle, bundleScript } from '../../scripts/sea/bundle.ts'
import { ripgrepFor } from '../../scripts/sea/ripgrep.ts'
import { makeTree } from '../support/trees.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PRODUCT = { name: 'crabtalk', version: '1.2.3', license: 'MIT', description: 'A test' }

test('the SBOM lists exactly the packages whose code is in the bundles, each with its license text', async () => {
  const main = await bundle(join(ROOT, 'bin/boot.ts'), join(ROOT, 'bin/run.ts'))
  const worker = await bundleScript(join(ROOT, 'src/core/session-search/background/worker-main.ts'))
  const metafiles = [main.metafile, main.bootMetafile, worker.metafile]
  const components = await npmComponents(bundledFolders(metafiles))
  const sbom = JSON.parse(renderSbom(PRODUCT, components)) as { components: { purl: string }[] }
  const listed = new Set(sbom.components.map(({ purl }) => purl))
  assert.deepEqual([...listed].toSorted(), [...(await packagesIn(metafiles))].toSorted())
  assert.ok(listed.size > 50, `${listed.size}`)
  for (const { name, license, texts, hash } of components) {
    assert.ok(texts.length > 0 && texts.every((text) => text.length > 200 || texts.length > 1), name)
    assert.match(hash?.content ?? '', /^[0-9a-f]{128}$/, name)
    if (license.includes('Apache-2.0')) assert.match(texts.join(''), /TERMS AND CONDITIONS FOR USE/, name)
    else assert.match(texts.join(''), /Permission|Redistribution|copyright|Each contributor/i, name)
  }
})

/** Reads the package URLs of all inputs with code in an output, by the nearest package.json with a version. */
async function packagesIn(metafiles: readonly Metafile[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        if (bytesInOutput === 0 || !path.includes('node_modules/')) continue
        found.add(await packageUrl(path))
      }
    }
  }
  return found
}

async function packageUrl(path: string): Promise<string> {
  const parts = path.replace(/^[\w-]+:/, '').split('/')
  while (parts.length > 1) {
    parts.pop()
    const text = await readFile(join(ROOT, ...parts, 'package.json'), 'utf8').catch(() => '{}')
    const { name, version } = JSON.parse(text)
    if (name && version && parts.at(-1) !== 'node_modules') {
      return `pkg:npm/${name.replace('@', '%40')}@${version}`
    }
  }
  throw new Error(`no package for ${path}`)
}

test('npmComponents() rejects a bundled package without a license text', async () => {
  await using tree = await makeTree({
    'node_modules/bare/package.json': '{"name":"bare","version":"1.0.0","license":"MIT"}',
    'node_modules/bare/index.js': 'export const bare = globalThis.bare',
    'main.js': "import { bare } from 'bare'\nconsole.log(bare)",
  })
  const { metafile } = await build({
    entryPoints: [tree.path('main.js')],
    bundle: true,
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
  })
  const [folder, ...others] = bundledFolders([metafile])
  assert.deepEqual(others, [])
  await assert.rejects(npmComponents([folder!]), /Cannot bundle bare: .* packaging\/notices\/npm\/bare\.txt/)
})

test('the list of what is linked into ripgrep is for the bundled version, and has every text', async () => {
  const { version, components, texts } = await ripgrepNotices()
  const own = await ripgrepFor(`${process.platform}-${process.arch}`)
  assert.ok(own, 'ripgrep is installed')
  const path = `node_modules/@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`
  assert.match(
    execFileSync(join(ROOT, path), ['--version'], { encoding: 'utf8' }),
    new RegExp(`^ripgrep ${version}\\b`),
  )
  const linked = new Set(
    own.toString('latin1').match(/index\.crates\.io-\w+\/[a-z][\w-]*-\d[\w.]*(?=\/)/g) ?? [],
  )
  const listed = new Set(components.map(({ name, version }) => `${name}-${version}`))
  assert.deepEqual(
    [...linked].map((path) => path.split('/')[1]!).filter((crate) => !listed.has(crate)),
    [],
  )
  assert.ok(components.every(({ texts: numbers }) => numbers.length > 0 && numbers.every((n) => texts[n])))
  const names = async (target: string) => (await ripgrepComponents(target)).map(({ name }) => name)
  assert.ok((await names('linux-arm64')).includes('musl'))
  assert.ok(!(await names('win32-x64')).includes('musl'))
  assert.ok((await names('win32-x64')).includes('windows-sys'))
})

test('nodeComponent() has the license of Node with those of what Node contains', async () => {
  const { version, texts } = await nodeComponent()
  assert.equal(version, process.versions.node)
  assert.match(texts[0]!, /OpenSSL/)
  assert.match(texts[0]!, /V8/)
})

const A: Component = {
  name: '@scope/a',
  version: '1.0.0',
  license: 'MIT OR Apache-2.0',
  purl: 'pkg:npm/%40scope/a@1.0.0',
  type: 'library',
  hash: { alg: 'SHA-512', content: 'ab' },
  texts: ['text of a\n', 'shared\n'],
}
const B: Component = { ...A, name: 'b', license: 'MIT', purl: 'pkg:npm/b@1.0.0', texts: ['shared\n'] }

test('renderNotices() prints every text once, with the names of all it applies to', () => {
  const text = renderNotices('crabtalk', [A, B])
  assert.equal(text.split('shared\n').length, 2)
  assert.match(text, /@scope\/a 1\.0\.0\nb 1\.0\.0\n=+\n\nshared/)
})

test('writeNotices() writes the same bytes in any order and at any time, and CycloneDX 1.6', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notices '))
  const read = () => Promise.all(NOTICE_FILES.map((name) => readFile(join(folder.path, name), 'utf8')))
  await writeNotices(folder.path, PRODUCT, [B, A, B])
  const first = await read()
  await writeNotices(folder.path, PRODUCT, [A, B])
  assert.deepEqual(await read(), first)
  const sbom = JSON.parse(first[1]!)
  assert.deepEqual(
    [sbom.bomFormat, sbom.specVersion, sbom.metadata.timestamp],
    ['CycloneDX', '1.6', undefined],
  )
  assert.match(
    sbom.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  assert.equal(sbom.metadata.component.purl, 'pkg:npm/crabtalk@1.2.3')
  assert.deepEqual(sbom.components[0], {
    type: 'library',
    'bom-ref': A.purl,
    group: '@scope',
    name: 'a',
    version: '1.0.0',
    hashes: [{ alg: 'SHA-512', content: 'ab' }],
    licenses: [{ expression: 'MIT OR Apache-2.0' }],
    purl: A.purl,
  })
  assert.deepEqual(sbom.components[1].licenses, [{ license: { id: 'MIT' } }])
  assert.equal(JSON.parse(renderSbom(PRODUCT, [A], '0')).metadata.timestamp, '1970-01-01T00:00:00.000Z')
})
