import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printLine, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { getErrorCode, isMissing } from '../../core/base/system-error.ts'
import { toVisible } from '../../core/base/visible.ts'
import { findProject } from '../../core/trust/find-project.ts'
import type { ProjectTrust } from '../../core/trust/trust-file.ts'
import { readTrust, TrustStore } from '../../core/trust/trust-store.ts'

/** Runs `crabtalk trust list`. */
export const listTrustedFoldersCommand: CommandHandler = async ({ options, host }) => {
  const projects = [...(await readTrust(resolvePaths(host).trust)).values()].toSorted((a, b) =>
    a.path < b.path ? -1 : 1,
  )
  if (options.has('json')) return printJson(host, projects)
  if (projects.length === 0) host.stderr.write('No directories yet\n')
  else await printTable(host, ['STATE', 'SINCE', 'FOLDER', 'FILES'], projects.map(toRow))
  return 0
}

/** Runs `crabtalk trust add`. */
export const addTrustedFolderCommand: CommandHandler = async ({ options, host, signal }) => {
  const [directory = '.'] = options.args
  const root = (await isDirectory(directory, host)) ? await findProjectRoot(directory, host) : undefined
  if (root === undefined) throw noFolder(directory, 'it is not a directory')
  await withStore(host, (store) => store.setState(root, 'trusted', signal))
  return printLine(host, toVisible(`trusted: ${root}`))
}

/** Runs `crabtalk trust remove`. */
export const removeTrustedFolderCommand: CommandHandler = async ({ options, host, signal }) => {
  const root = await findProjectRoot(options.args[0], host)
  if (root !== undefined && !options.has('forget')) {
    await withStore(host, (store) => store.setState(root, 'untrusted', signal))
    return printLine(host, toVisible(`not trusted: ${root}`))
  }
  const path = root ?? resolve(host.cwd(), options.args[0] ?? '.')
  const wasListed = await withStore(host, (store) => store.remove(path, signal))
  if (!wasListed && root === undefined) throw notListed(path)
  return printLine(host, toVisible(`forgotten: ${path}`))
}

async function isDirectory(directory: string, host: Host): Promise<boolean> {
  try {
    return (await stat(resolve(host.cwd(), directory))).isDirectory()
  } catch (reason) {
    if (isMissing(reason)) throw noFolder(directory, 'it does not exist')
    const why = REASONS[getErrorCode(reason)] ?? String(reason)
    throw new CrabError('failed', `Cannot trust ${toVisible(directory)}: ${why}`, {
      cause: reason,
      hint: 'check the owner, the mode and the links of the directories in its path',
    })
  }
}

/** Returns the folder that represents a directory; undefined when the directory does not exist. */
async function findProjectRoot(directory = '.', host: Host): Promise<string | undefined> {
  const { uid, homeDir } = host
  return (await findProject(resolve(host.cwd(), directory), { uid, homeDir }))?.root
}

async function withStore<T>(host: Host, work: (store: TrustStore) => Promise<T>): Promise<T> {
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  const { trust: path, leases: database, proc } = resolvePaths(host)
  await using leases = new SqliteLeases({ database, proc, pid: host.pid })
  const lock = (resource: string, signal: AbortSignal) => leases.take(resource, signal)
  return await work(new TrustStore({ path, lock, now: Date.now }))
}

/** Shows each file once, with its last notice: one that was refused before may be in use now. */
function toRow({ path, state, since, notices }: ProjectTrust): string[] {
  const last = new Map(notices.map((notice) => [notice.replace(/: .*/s, ''), toVisible(notice)]))
  const files = [...last.values()].join(', ')
  return [state, since.slice(0, 10), toVisible(path), files || (state === 'untrusted' ? 'none' : 'all')]
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ELOOP: 'its links form a loop',
  ENAMETOOLONG: 'its path is too long',
}

function noFolder(directory: string, why: string): CrabError {
  return new CrabError('missing', `Cannot trust ${toVisible(directory)}: ${why}`, {
    hint: 'give the path of a directory',
  })
}

function notListed(path: string): CrabError {
  return new CrabError('missing', `Cannot remove ${toVisible(path)}: it is not in the list`, {
    hint: 'crabtalk trust list shows the directories',
  })
}
