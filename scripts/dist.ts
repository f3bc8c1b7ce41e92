import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { makeArchive } from './release/archive.ts'
import { fetchFile } from './release/fetch.ts'
import type { Entry } from './release/file-tree.ts'
import { type Manifest, mainPackage, platformPackage } from './release/npm.ts'
import { sharedFiles } from './release/share.ts'
import { TARGETS, type Target } from './release/targets.ts'
import { buildBinary, inMegabytes } from './sea/build.ts'

// npm run dist -- [--out FOLDER] [--cache FOLDER] [TARGET…]
// Builds the release artifacts (ADR 0140), by default for all platforms: in FOLDER/release archives with
// install.sh and SHA256SUMS, in FOLDER/npm the packages, of which `npm install --global FOLDER/npm/*.tgz`
// installs those for this machine.
const { values: options, positionals } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist' },
    cache: { type: 'string', default: 'dist/cache' },
  },
  allowPositionals: true,
})
const ROOT = join(import.meta.dirname, '..')
/** The folder of packages for other platforms, which npm refuses to install here. */
const OTHERS = 'others'
const begin = performance.now()
const run = promisify(execFile)
await dist(resolve(options.out), resolve(options.cache), parseTargets(positionals))

function parseTargets(names: readonly string[]): Target[] {
  const unknown = names.find((name) => !TARGETS.some((target) => target.name === name))
  if (unknown === undefined) return TARGETS.filter(({ name }) => names.length === 0 || names.includes(name))
  throw new Error(`Cannot build for ${unknown}: it is one of ${TARGETS.map(({ name }) => name).join(', ')}`)
}

async function dist(out: string, cache: string, targets: readonly Target[]): Promise<void> {
  const [release, npm] = [join(out, 'release'), join(out, 'npm')]
  for (const folder of [release, npm]) await rm(folder, { recursive: true, force: true })
  for (const folder of [release, join(npm, OTHERS)]) await mkdir(folder, { recursive: true })
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  await run('npm', ['run', '--silent', 'build:lib'], { cwd: ROOT })
  await write(npm, await mainPackage(manifest))
  const shared = await sharedFiles()
  for (const target of targets) await makeTarget(target, { release, npm, out, cache, manifest, shared })
  await copyFile(join(ROOT, 'packaging/install.sh'), join(release, 'install.sh'))
  await writeSums(release, manifest.version, targets)
}

interface Place {
  release: string
  npm: string
  out: string
  cache: string
  manifest: Manifest
  shared: readonly Entry[]
}

async function makeTarget(target: Target, place: Place): Promise<void> {
  const { release, npm, out, cache, manifest, shared } = place
  const isOwn = target.os === process.platform && target.cpu === process.arch
  const node = isOwn ? process.execPath : await fetchFile(target.node, { cache })
  const ripgrep = await fetchFile(target.ripgrep, { cache })
  const binary = join(out, 'binaries', target.name, target.binary)
  await mkdir(dirname(binary), { recursive: true })
  report(`${target.name}:`)
  await buildBinary({
    out: binary,
    node,
    ripgrep,
    strips: true,
    hasCodeCache: true,
    report,
  })
  await write(release, await makeArchive(target, { binary, version: manifest.version, shared }))
  await write(isOwn ? npm : join(npm, OTHERS), await platformPackage(target, { binary, manifest }))
}

async function write(folder: string, { name, bytes }: { name: string; bytes: Buffer }): Promise<void> {
  await writeFile(join(folder, name), bytes)
  report(`made ${join(folder, name)}, ${inMegabytes(bytes.length)}`)
}

/** Writes the checksums in the format of `sha256sum -c`. */
async function writeSums(folder: string, version: string, targets: readonly Target[]): Promise<void> {
  const names = targets.map(
    ({ name, os }) => `crabtalk-${version}-${name}.${os === 'win32' ? 'zip' : 'tar.gz'}`,
  )
  const lines = await Promise.all(
    [...names, 'install.sh'].toSorted().map(async (name) => {
      const hash = createHash('sha256').update(await readFile(join(folder, name)))
      return `${hash.digest('hex')}  ${name}\n`
    }),
  )
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''))
}

function report(what: string): void {
  console.log(`${((performance.now() - begin) / 1000).toFixed(1).padStart(5)} s  ${what}`)
}
