import { execFile } from 'node:child_process'
import { copyFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { NOTICES_ASSET } from '../../bin/notices.ts'
import { SEARCH_WORKER_ASSET } from '../../bin/search-worker.ts'
import { withoutExports } from './elf-exports.ts'
import { signAdHoc } from './mach-o-signature.ts'

const run = promisify(execFile)

/** The Node options built into the binary; the warm-up runs with them too. */
export const NODE_FLAGS = [
  '--min-semi-space-size=20', // MB: a command of one turn ends before the first collection
  '--use-env-proxy',
  '--use-system-ca',
  '--disable-sigusr1', // that signal would open a debugger port
]

/**
 * Copies a Node executable without its symbols, which saves 33 MB of 150, and without those that it exports
 * for add-ons, which saves 4 MB (ADR 0179). The copy keeps what cannot be removed here.
 */
export async function stripped(node: string, copy: string, target: string): Promise<string> {
  await copyFile(node, copy)
  await strip(copy, target)
  try {
    await writeFile(copy, withoutExports(await readFile(copy)))
  } catch (reason) {
    console.warn(
      `crabtalk: warning: the binary for ${target} stays 4 MB larger: ${(reason as Error).message}`,
    )
  }
  return copy
}

async function strip(file: string, target: string): Promise<void> {
  const programs = target === 'linux-arm64' ? ['aarch64-linux-gnu-strip', 'strip'] : ['strip']
  let why = 'strip is not installed'
  for (const program of programs) {
    try {
      return void (await run(program, ['-s', file]))
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'ENOENT') why = 'strip does not know its format'
    }
  }
  console.warn(`crabtalk: warning: the binary for ${target} stays 33 MB larger: ${why}`)
}

/** The identifier in the signature. */
const SIGNED_AS = 'ai.crabtalk'

/** The content of the binary. */
export interface Executable {
  /** The Node executable to use, for this platform or another. */
  node: string
  /** The platform it runs on, such as `linux-x64`. */
  target: string
  boot: string
  pack: Uint8Array
  /** The script of the search worker. */
  searchWorker: string
  /** Undefined for a platform without a ripgrep package. */
  ripgrep: Uint8Array | undefined
  /** The licenses of everything inside, compressed. */
  notices: Uint8Array
  /** Whether it runs on this machine's V8, so that its startup code can be cached. */
  codeCache: boolean
  /** The folder of intermediate files. */
  workDir: string
}

/** Builds the binary and renames it into place, so that a running binary of that name is not affected. */
export async function makeExecutable(
  out: string,
  { node, target, boot, pack, searchWorker, ripgrep, notices, codeCache, workDir }: Executable,
): Promise<void> {
  const config = {
    main: 'boot.cjs', // relative, because stack traces show it
    output: 'binary',
    executable: node,
    assets: {
      pack: 'pack.bin',
      [SEARCH_WORKER_ASSET]: 'search-worker.cjs',
      ...(ripgrep && { ripgrep: 'ripgrep.bin' }),
      [NOTICES_ASSET]: 'notices.bin',
    },
    useCodeCache: codeCache,
    disableExperimentalSEAWarning: true,
    execArgv: [...NODE_FLAGS, '--'], // otherwise Node would interpret an `--env-file` anywhere in the arguments
    execArgvExtension: 'none', // otherwise NODE_OPTIONS would affect the shipped binary
  }
  await writeFile(join(workDir, 'boot.cjs'), boot)
  await writeFile(join(workDir, 'pack.bin'), pack)
  await writeFile(join(workDir, 'search-worker.cjs'), searchWorker)
  await writeFile(join(workDir, 'notices.bin'), notices)
  if (ripgrep) await writeFile(join(workDir, 'ripgrep.bin'), ripgrep)
  await writeFile(join(workDir, 'sea.json'), JSON.stringify(config, undefined, 2))
  await run(process.execPath, ['--build-sea', 'sea.json'], { cwd: workDir })
  if (target.startsWith('darwin')) await sign(join(workDir, 'binary'))
  await rename(join(workDir, 'binary'), out)
}

/**
 * Signs the binary, since Apple's processors run nothing unsigned. `codesign` exists on macOS only; elsewhere
 * signAdHoc() signs (ADR 0142).
 */
async function sign(binary: string): Promise<void> {
  if (platform() === 'darwin') await run('codesign', ['--force', '--sign', '-', binary])
  else await writeFile(binary, signAdHoc(await readFile(binary), SIGNED_AS))
}

/**
 * Puts `crabup` next to the binary: a relative link, or on Windows, where links need privileges, a script
 * that starts it.
 */
export async function linkCrabup(binary: string, target: string): Promise<void> {
  const isWindows = target.startsWith('win32')
  const link = join(dirname(binary), isWindows ? 'crabup.cmd' : 'crabup')
  await rm(link, { force: true })
  await (isWindows ? writeFile(link, crabupScript(basename(binary))) : symlink(basename(binary), link))
}

/**
 * Returns the script. A copy would take 120 MB, and cmd.exe cannot run a program under another name, so the
 * script passes a flag.
 */
function crabupScript(binary: string): string {
  return `@"%~dp0${binary}" --as-crabup %*\r\n`
}
