import { execFile } from 'node:child_process'
import { copyFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { SEARCH_WORKER_ASSET } from '../../bin/search-worker.ts'

const run = promisify(execFile)

/** Node options built into the binary; the warm-up runs with them too. */
export const NODE_FLAGS = [
  '--min-semi-space-size=16',
  '--use-env-proxy',
  '--use-system-ca',
  '--disable-sigusr1', // that signal would open a debugger to whoever can reach its port
]

/** A copy of a Node executable without its symbols: 33 MB of 150. Where `strip` cannot do it, the original. */
export async function stripped(node: string, copy: string): Promise<string> {
  await copyFile(node, copy)
  try {
    await run('strip', ['-s', copy])
    return copy
  } catch (reason) {
    const isMissing = (reason as NodeJS.ErrnoException).code === 'ENOENT'
    const why = isMissing ? 'there is no strip here' : 'strip does not know its format'
    console.warn(`crabtalk: warning: the binary stays 33 MB larger: ${why}`)
    return node
  }
}

/** What goes into the binary. */
export interface Executable {
  /** The Node it is made of, for this platform or another. */
  node: string
  boot: string
  pack: Uint8Array
  /** The program of the search's worker. */
  searchWorker: string
  /** Undefined when there is none for its system. */
  ripgrep: Uint8Array | undefined
  /** Whether it will run on this machine's V8, so that its start-up code can be cached. */
  codeCache: boolean
  /** Folder for what is made on the way. */
  workDir: string
}

/** Makes the binary. A running one of that name is left alone: the new file takes its place. */
export async function makeExecutable(
  out: string,
  { node, boot, pack, searchWorker, ripgrep, codeCache, workDir }: Executable,
): Promise<void> {
  const config = {
    main: 'boot.cjs', // relative, because stack traces show it
    output: 'binary',
    executable: node,
    assets: {
      pack: 'pack.bin',
      [SEARCH_WORKER_ASSET]: 'search-worker.cjs',
      ...(ripgrep && { ripgrep: 'ripgrep.bin' }),
    },
    useCodeCache: codeCache,
    disableExperimentalSEAWarning: true,
    execArgv: NODE_FLAGS,
    execArgvExtension: 'none', // or NODE_OPTIONS would reach the shipped binary
  }
  await writeFile(join(workDir, 'boot.cjs'), boot)
  await writeFile(join(workDir, 'pack.bin'), pack)
  await writeFile(join(workDir, 'search-worker.cjs'), searchWorker)
  if (ripgrep) await writeFile(join(workDir, 'ripgrep.bin'), ripgrep)
  await writeFile(join(workDir, 'sea.json'), JSON.stringify(config, undefined, 2))
  await run(process.execPath, ['--build-sea', 'sea.json'], { cwd: workDir })
  if (platform() === 'darwin') await run('codesign', ['--force', '--sign', '-', join(workDir, 'binary')])
  await rename(join(workDir, 'binary'), out)
}

/** Puts `crabup` beside the binary: a relative link to it, a copy where links need rights (Windows). */
export async function linkCrabup(binary: string): Promise<void> {
  const windows = platform() === 'win32'
  const link = join(dirname(binary), windows ? 'crabup.exe' : 'crabup')
  await rm(link, { force: true })
  await (windows ? copyFile(binary, link) : symlink(basename(binary), link))
}
