import { realpathSync, statSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { homePaths } from '../../core/config/paths.ts'
import { findInFolder, findOnPath } from '../../core/process/find-program.ts'
import { type ShellBuild, type ShellHost, toUpHost } from '../host.ts'
import { mergePaths, type PathSnapshot, snapshotPath } from '../path-snapshot.ts'
import { readEnvFileSync } from '../supervisor/environment.ts'
import type { SpecContext } from './service-spec.ts'

/**
 * Builds the parts of unit specs that all services of the home share, from the environment of this shell.
 * Throws like homePaths().
 */
export async function buildSpecContext(host: ShellHost): Promise<SpecContext> {
  const paths = homePaths(host.env, { cwd: host.cwd(), homeDir: host.homeDir })
  const { platform } = toUpHost(host)
  const own = readEnvFileSync(paths.serviceEnv)
  const ownPath = own['PATH'] ?? (platform === 'win32' ? own['Path'] : undefined)
  const path = ownPath ?? servicePath(host).path
  return {
    paths,
    usualHome: usualHome(host),
    platform,
    program: stableProgram(await host.build(), path),
    path,
    hasOwnPath: ownPath !== undefined,
    node: findOnPath(path, 'node'),
    hasEnvFile: await access(paths.serviceEnv, constants.R_OK).then(
      () => true,
      () => false,
    ),
  }
}

/** Computes the PATH that services of this home get from this shell, or from a shell with another PATH. */
export function servicePath(
  host: ShellHost,
  path = host.env['PATH'] ?? host.env['Path'] ?? '',
): PathSnapshot {
  const temporary = [
    tmpdir(),
    host.env['TMPDIR'],
    host.env['TEMP'],
    host.env['XDG_RUNTIME_DIR'],
    ...TEMPORARY,
  ]
  return snapshotPath({
    path,
    platform: toUpHost(host).platform,
    homeDir: host.homeDir,
    cwd: host.cwd(),
    temporary: temporary.filter((folder): folder is string => Boolean(folder)),
    isDirectory,
    hasProgram: (folder, name) => findInFolder(folder, name) !== undefined,
  })
}

/** Returns the context with the PATH merged with that of a running service, as mergePaths() does. */
export function mergeUnitPath(
  context: SpecContext,
  before: string | undefined,
  host: ShellHost,
): { context: SpecContext; retained: readonly string[] } {
  if (context.hasOwnPath) return { context, retained: [] }
  const usual = servicePath(host, '').path
  const { path, retained } = mergePaths({ before, now: context.path, usual, delimiter, isDirectory })
  return { context: { ...context, path, node: findOnPath(path, 'node') }, retained }
}

/** Returns the default home; empty for a user without a home directory. */
function usualHome({ homeDir }: ShellHost): string {
  return homeDir === '' ? '' : homePaths({}, { cwd: homeDir, homeDir }).home
}

/**
 * Returns the command that starts this program by a stable path: the one on the PATH when that is this very
 * file. An update often installs another file and redirects that path to it. A file named crabup is the wrong
 * program; the crabtalk beside it is used.
 */
function stableProgram({ command, isOneFile }: ShellBuild, path: string): SpecContext['program'] {
  const [file, ...rest] = command
  if (!isOneFile) return command
  const own = /^crabup/i.test(basename(file))
    ? join(dirname(file), basename(file).replace(/crabup/i, 'crabtalk'))
    : file
  const found = findOnPath(path, 'crabtalk')
  return [found !== undefined && isSame(found, own) ? found : own, ...rest]
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false // the program on the PATH is a dangling link
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // it does not exist, or may not be read
  }
}

const TEMPORARY = [
  '/tmp',
  '/var/tmp',
  '/private/tmp',
  '/private/var/tmp',
  '/var/folders',
  '/private/var/folders',
  '/run/user',
  '/dev/shm',
]
