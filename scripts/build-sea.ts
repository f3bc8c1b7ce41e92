import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle, bundleWorker } from './sea/bundle.ts'
import { linkCrabup, makeExecutable, NODE_FLAGS, stripped } from './sea/executable.ts'
import { makePack, type PackContent } from './sea/pack.ts'
import { makeRipgrepAsset, ripgrepFor, targetOf } from './sea/ripgrep.ts'
import { smoke } from './sea/smoke.ts'

// npm run build -- [--out FILE] [--exe NODE] [--no-strip] [--no-code-cache]
// Makes dist/crabtalk and its link crabup; docs/decisions/0050-one-binary.md says why in this way.
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/crabtalk' },
    exe: { type: 'string' }, // a Node of the same version for another platform
    'no-strip': { type: 'boolean', default: false },
    'no-code-cache': { type: 'boolean', default: false },
  },
})
/** Make what V8 compiles the same in every build. */
const SEEDS = ['--random-seed=1', '--hash-seed=1']
/** Far more than it takes: a scenario that hangs does not hold up a build for ever. */
const WARM_UP_MS = 120_000
/** Without code caches, and with nothing compressed. */
const NOT_WARM: Omit<PackContent, 'chunks'> = { caches: new Map(), cold: new Set() }
const begin = performance.now()
await build(resolve(options.out), options.exe ?? process.execPath)

async function build(out: string, node: string): Promise<void> {
  const foreign = node !== process.execPath
  const workDir = join(dirname(out), 'build')
  await rm(workDir, { recursive: true, force: true })
  await mkdir(join(workDir, 'chunks'), { recursive: true })

  const { boot, chunks, metafile } = await bundle('bin/boot.ts', 'bin/run.ts')
  await writeFile(join(workDir, 'meta.json'), JSON.stringify(metafile))
  report(
    `bundled ${chunks.size} chunks, ${inMegabytes(chunks.values().reduce((sum, { length }) => sum + length, 0))}`,
  )
  const withCaches = !foreign && !options['no-code-cache']
  const { caches, cold } = withCaches ? await warmUp(chunks, join(workDir, 'chunks')) : NOT_WARM
  const base =
    options['no-strip'] || platform() !== 'linux' ? node : await stripped(node, join(workDir, 'node'))
  await makeExecutable(out, {
    node: base,
    boot,
    pack: makePack({ chunks, caches, cold }),
    searchWorker: await bundleWorker('src/core/session-search/background/worker-main.ts'),
    ripgrep: await packRipgrep(await targetOf(node)),
    codeCache: !foreign,
    workDir,
  })
  await linkCrabup(out)
  await rm(join(workDir, 'node'), { force: true })
  report(`made ${out}, ${inMegabytes((await stat(out)).size)}`)
  if (foreign) return
  await smoke(out)
  report('ran every command with it')
}

/** Runs the chunks in a process of their own, with the binary's flags; gives their code caches, and which are cold. */
async function warmUp(chunks: Map<string, string>, folder: string): Promise<Omit<PackContent, 'chunks'>> {
  for (const [id, source] of chunks) await writeFile(join(folder, id), source, 'latin1')
  const program = join(import.meta.dirname, 'sea/warm-up.ts')
  execFileSync(process.execPath, [...NODE_FLAGS, ...SEEDS, program, folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: WARM_UP_MS,
  })
  const caches = new Map<string, Uint8Array>()
  for (const id of chunks.keys()) caches.set(id, await readFile(join(folder, `${id}.cache`)))
  const hot = new Set<string>(JSON.parse(await readFile(join(folder, 'hot.json'), 'utf8')))
  report(`warmed up ${caches.size} code caches, ${hot.size} of them hot`)
  return { caches, cold: new Set(chunks.keys()).difference(hot) }
}

async function packRipgrep(target: string): Promise<Uint8Array | undefined> {
  const program = await ripgrepFor(target)
  if (!program) {
    console.warn(`crabtalk: warning: the binary searches more slowly: npm has no ripgrep for ${target} here`)
    return undefined
  }
  const asset = makeRipgrepAsset(program)
  report(`packed ripgrep for ${target}, ${inMegabytes(asset.length)} of ${inMegabytes(program.length)}`)
  return asset
}

function report(what: string): void {
  console.log(`${((performance.now() - begin) / 1000).toFixed(1).padStart(5)} s  ${what}`)
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
