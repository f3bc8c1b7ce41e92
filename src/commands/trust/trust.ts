import { stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printLine, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { getErrorCode, isMissing } from '../../core/base/system-error.ts'
import { toVisible } from '../../core/base/visible.ts'
import { findProject } from '../../core/trust/find-project.ts'
import type { ProjectTrust, ServerFileTrust } from '../../core/trust/trust-file.ts'
import { readServerTrust, readTrust } from '../../core/trust/trust-store.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { toSkippedLine } from '../../edge/entries/server-trust.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { withTrustStore } from './answer-servers.ts'

/** Runs `crabtalk trust list`. */
export const listTrustedFoldersCommand: CommandHandler = async ({ options, host }) => {
  const projects = [...(await readTrust(resolvePaths(host).trust)).values()].toSorted((a, b) =>
    a.path < b.path ? -1 : 1,
  )
  const answers = [...(await readServerTrust(resolvePaths(host).trust)).values()]
  const files = await Promise.all(answers.map((answer) => toCurrent(answer, host)))
  if (options.has('json')) return printJson(host, [...projects, ...files])
  const rows = [...projects.map(toRow), ...files.map(toServersRow)]
  if (rows.length === 0) host.stderr.write('No directories yet\n')
  else await printTable(host, ['STATE', 'SINCE', 'PATH', 'FILES'], rows)
  return 0
}

/** Runs `crabtalk trust add`. */
export const addTrustedFolderCommand: CommandHandler = async ({ options, host, signal }) => {
  const [directory = '.'] = options.args
  await requireDirectory(directory, host)
  const root = await findProjectRoot(directory, host)
  if (root === undefined) throw noFolder(directory, 'it is not a directory')
  await withTrustStore(host, (store) => store.setState(root, 'trusted', signal))
  printLine(host, toVisible(`trusted: ${root}`))
  await mentionServers(directory, host)
  return 0
}

/** Runs `crabtalk trust remove`. */
export const removeTrustedFolderCommand: CommandHandler = async ({ options, host, signal }) => {
  const root = await findProjectRoot(options.args[0], host)
  if (root !== undefined && !options.has('forget')) {
    await withTrustStore(host, async (store) => {
      await store.setState(root, 'untrusted', signal)
      await store.forgetServers(root, signal)
    })
    return printLine(host, toVisible(`not trusted: ${root}`))
  }
  const path = root ?? resolve(host.cwd(), options.args[0] ?? '.')
  const wasListed = await withTrustStore(host, (store) => store.remove(path, signal))
  if (!wasListed && root === undefined) throw notListed(path)
  return printLine(host, toVisible(`forgotten: ${path}`))
}

/** Throws `missing` or `failed` with the reason when a path does not lead to a directory. */
export async function requireDirectory(directory: string, host: Host): Promise<void> {
  try {
    if (!(await stat(resolve(host.cwd(), directory))).isDirectory())
      throw noFolder(directory, 'it is not a directory')
  } catch (reason) {
    if (reason instanceof CrabError) throw reason
    if (isMissing(reason)) throw noFolder(directory, 'it does not exist')
    const why = REASONS[getErrorCode(reason)] ?? String(reason)
    throw new CrabError('failed', `Cannot trust ${toVisible(directory)}: ${why}`, {
      cause: reason,
      hint: 'check the owner, the mode and the links of the directories in its path',
    })
  }
}

/** Whether a folder, or a file of servers below it, is in trust.toml. */
export async function isTrustRecorded(root: string, host: Host): Promise<boolean> {
  const { trust } = resolvePaths(host)
  const [projects, files] = await Promise.all([readTrust(trust), readServerTrust(trust)])
  return projects.has(root) || files.keys().some((path) => path.startsWith(`${root}${sep}`))
}

/** Returns the folder that represents a directory; undefined when the directory does not exist. */
export async function findProjectRoot(directory = '.', host: Host): Promise<string | undefined> {
  const { uid, homeDir } = host
  return (await findProject(resolve(host.cwd(), directory), { uid, homeDir }))?.root
}

/** Shows each file once, with its last notice: one that was refused before may be in use now. */
function toRow({ path, state, since, notices }: ProjectTrust): string[] {
  const last = new Map(notices.map((notice) => [notice.replace(/: .*/s, ''), toVisible(notice)]))
  const files = [...last.values()].join(', ')
  return [state, since.slice(0, 10), toVisible(path), files || (state === 'untrusted' ? 'none' : 'all')]
}

/** The user's answer about a file of MCP servers, and whether the file still has the content that it is about. */
type CurrentTrust = Omit<ServerFileTrust, 'state'> & { state: ServerFileTrust['state'] | 'changed' | 'gone' }

/** Reads the file of an answer. One that is not read now is not the one that the answer is about. */
async function toCurrent(answer: ServerFileTrust, { uid, homeDir }: Host): Promise<CurrentTrust> {
  const { path, digest } = answer
  const { readServerFile } = await import('../../edge/entries/read-server-file.ts')
  const project = await findProject(dirname(path), { uid, homeDir })
  const file = await readServerFile(path, { scope: 'project', uid, linkRoot: project?.root ?? dirname(path) })
  if (file === undefined) return { ...answer, state: 'gone' }
  return file.digest === digest ? answer : { ...answer, state: 'changed' }
}

/** Shows a file of MCP servers and their names. */
function toServersRow({ path, state, since, servers }: CurrentTrust): string[] {
  const names = servers.map((server) => server.slice(0, server.indexOf(': ')))
  return [state, since.slice(0, 10), toVisible(path), toVisible(`servers: ${names.join(', ')}`)]
}

/** Says how to review the servers of a folder: trust in the folder does not start them. */
async function mentionServers(directory: string, host: Host): Promise<void> {
  const place = toSessionPlace(host, resolve(host.cwd(), directory))
  if (!hasServerFiles(place)) return
  const { findSessionServers } = await import('../../edge/entries/session-servers.ts')
  const { untrusted } = await findSessionServers(place, openResolver(host))
  for (const file of untrusted) host.stderr.write(sanitize(`crabtalk: ${toSkippedLine(file)}\n`))
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
