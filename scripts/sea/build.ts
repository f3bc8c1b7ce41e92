import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Metafile } from 'esbuild'
import { makeNoticesAsset } from '../notices/asset.ts'
import { ownProduct, writeNotices } from '../notices/files.ts'
import { nodeComponent, ripgrepComponents } from '../notices/native.ts'
import { bundledFolders, npmComponents } from '../notices/npm.ts'
import { type Bundle, bundle, bundleScript } from './bundle.ts'
import { linkCrabup, makeExecutable, NODE_FLAGS, stripped } from './executable.ts'
import { makePack, type PackContent } from './pack.ts'
import { detectTarget, makeRipgrepAsset, ripgrepFor } from './ripgrep.ts'
import { smoke } from './smoke.ts'

/** The options for building one binary. */
export interface BinaryOptions {
  /**
   * The output path; `crabup` and the folder `build` with intermediate files are written next to it.
   * Absolute.
   */
  out: string
  /** The Node executable to use: this process's, or one of the same version for another platform. */
  node: string
  strips: boolean
  hasCodeCache: boolean
  /** The ripgrep for its platform; by default that of the npm package installed here. */
  ripgrep?: string
  /** Receives each finished step. */
  report: (what: string) => void
}

/** The flags that make V8's compilation results the same in every build. */
const SEEDS = ['--random-seed=1', '--hash-seed=1']
/** Far more than needed: a hanging scenario must not block a build forever. */
const WARM_UP_MS = 120_000
/** The chunks that the chat loads behind its first frame: they are hot, but compressed, which saves 0.9 MB. */
const BEHIND_FIRST_FRAME = /^(?:run-chat|marked\.esm)-/
/** The warm-up result without code caches and with nothing compressed. */
const NOT_WARM: Omit<PackContent, 'chunks'> = { caches: new Map(), cold: new Set() }

/** Builds one binary (ADR 0050) and, if it runs on this machine, runs every command with it. */
export async function buildBinary(options: BinaryOptions): Promise<void> {
  const { out, node, report } = options
  const foreign = node !== process.execPath
  const workDir = join(dirname(out), 'build')
  await rm(workDir, { recursive: true, force: true })
  await mkdir(join(workDir, 'chunks'), { recursive: true })

  const { boot, chunks, metafile, bootMetafile } = await bundled(workDir, report)
  const isWarm = !foreign && options.hasCodeCache
  const { caches, cold } = isWarm ? await warmUp(chunks, join(workDir, 'chunks'), report) : NOT_WARM
  const target = await detectTarget(node)
  const worker = await bundleScript('src/core/session-search/background/worker-main.ts')
  const ripgrep = await packRipgrep(target, options)
  const notices = await noteLicenses(dirname(out), [bootMetafile, metafile, worker.metafile], {
    target,
    hasRipgrep: ripgrep !== undefined,
  })
  const canStrip = options.strips && target.startsWith('linux')
  await makeExecutable(out, {
    node: canStrip ? await stripped(node, join(workDir, 'node'), target) : node,
    target,
    boot,
    pack: makePack({ chunks, caches, cold }),
    searchWorker: worker.text,
    ripgrep,
    notices,
    codeCache: isWarm,
    workDir,
  })
  await linkCrabup(out, target)
  await rm(join(workDir, 'node'), { force: true })
  report(`made ${out}, ${inMegabytes((await stat(out)).size)}`)
  if (foreign) return
  await smoke(out)
  report('ran every command with it')
}

async function bundled(workDir: string, report: BinaryOptions['report']): Promise<Bundle> {
  const result = await bundle('bin/boot.ts', 'bin/run.ts')
  await writeFile(join(workDir, 'meta.json'), JSON.stringify(result.metafile))
  const bytes = result.chunks.values().reduce((sum, { length }) => sum + length, 0)
  report(`bundled ${result.chunks.size} chunks, ${inMegabytes(bytes)}`)
  return result
}

/**
 * Writes the notices and the SBOM of the binary to a folder, and returns the asset that the binary itself
 * prints.
 */
async function noteLicenses(
  folder: string,
  metafiles: readonly Metafile[],
  { target, hasRipgrep }: { target: string; hasRipgrep: boolean },
): Promise<Uint8Array> {
  const components = [
    ...(await npmComponents(bundledFolders(metafiles))),
    await nodeComponent(),
    ...(hasRipgrep ? await ripgrepComponents(target) : []),
  ]
  const product = await ownProduct()
  await writeNotices(folder, product, components)
  const license = await readFile(join(import.meta.dirname, '../../LICENSE'), 'utf8')
  return makeNoticesAsset(product, license, components)
}

/**
 * Runs the chunks in a separate process with the binary's flags; returns their code caches, and which are
 * cold.
 */
async function warmUp(
  chunks: Map<string, string>,
  folder: string,
  report: BinaryOptions['report'],
): Promise<Omit<PackContent, 'chunks'>> {
  for (const [id, source] of chunks) await writeFile(join(folder, id), source, 'latin1')
  const program = join(import.meta.dirname, 'warm-up.ts')
  execFileSync(process.execPath, [...NODE_FLAGS, ...SEEDS, program, folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: WARM_UP_MS,
  })
  const caches = new Map<string, Uint8Array>()
  for (const id of chunks.keys()) caches.set(id, await readFile(join(folder, `${id}.cache`)))
  const hot = new Set<string>(JSON.parse(await readFile(join(folder, 'hot.json'), 'utf8')))
  report(`warmed up ${caches.size} code caches, ${hot.size} of them hot`)
  const isCold = (id: string) => !hot.has(id) || BEHIND_FIRST_FRAME.test(id)
  return { caches, cold: new Set(chunks.keys().filter(isCold)) }
}

async function packRipgrep(
  target: string,
  { ripgrep, report }: BinaryOptions,
): Promise<Uint8Array | undefined> {
  const program = await (ripgrep === undefined ? ripgrepFor(target) : readFile(ripgrep))
  if (!program) {
    console.warn(`crabtalk: warning: the binary searches more slowly: npm has no ripgrep for ${target} here`)
    return undefined
  }
  const asset = makeRipgrepAsset(program)
  report(`packed ripgrep for ${target}, ${inMegabytes(asset.length)} of ${inMegabytes(program.length)}`)
  return asset
}

/** Formats a size: `115.8 MB`. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
