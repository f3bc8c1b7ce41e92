import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { UpHost } from '../types.ts'

/** A git repository. */
export interface GitSource {
  kind: 'git'
  url: string
  /** A branch, a tag or a commit; the repository's HEAD by default. */
  ref: string | undefined
}

/**
 * Parses a git source: an https, ssh or file address, `user@host:path` or `github:owner/name`, optionally
 * followed by `#branch`. Returns undefined when the word is not an address; throws `usage` for an address
 * that is not allowed.
 */
export function parseGitSource(word: string): GitSource | undefined {
  const [address = '', ref] = splitOnce(word.replace(/^git\+/, ''), '#')
  const short = /^github:([\w.-]+\/[\w.-]+)$/.exec(address)?.[1]
  const url = short ? `https://github.com/${short}.git` : address
  const isAddress =
    /^(https|ssh):\/\/[^-\s][^\s\\]*$/.test(url) ||
    /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/][^\s\\]*$/.test(url) ||
    /^file:\/\/\/[^\\\0]*$/.test(url) ||
    /^[\w][\w.-]*@[\w][\w.-]*:[^-\s][^\s\\]*$/.test(url)
  if (!isAddress) {
    if (!/^[a-z+]+:/.test(word) || /^[a-zA-Z]:[\\/]/.test(word)) return undefined
    throw new CrabError('usage', `Cannot use ${word}: git sources use https, ssh or file:///`, {
      hint: 'for example https://host/owner/name.git#branch',
    })
  }
  if (ref !== undefined && !/^[\w][\w./+-]*$/.test(ref)) {
    throw new CrabError('usage', `Cannot use ${word}: "${ref}" is not a branch, a tag or a commit`)
  }
  return { kind: 'git', url, ref }
}

/**
 * Finds the local repository that a path names, if the path ends in `#branch` or leads to a bare repository;
 * undefined otherwise.
 */
export async function findRepository(
  word: string,
  { cwd, homeDir }: { cwd: string; homeDir: string },
): Promise<GitSource | undefined> {
  if (!/^(\.{0,2}[\\/]|~[\\/]|[a-zA-Z]:[\\/])/.test(word)) return undefined
  const isThere = (...parts: string[]) => stat(join(...parts)).then(Boolean, () => false)
  const [address = '', ref] = splitOnce(word, '#')
  const folder = resolve(cwd, address.replace(/^~(?=[\\/])/, homeDir))
  const isBare = (await isThere(folder, 'HEAD')) && (await isThere(folder, 'objects'))
  const isMeant = isBare || (ref !== undefined && (await isThere(folder, '.git')))
  return isMeant
    ? parseGitSource(`${pathToFileURL(folder).href}${ref === undefined ? '' : `#${ref}`}`)
    : undefined
}

/**
 * Fetches one commit of a git repository as a tar file below a folder. Nothing is checked out, so that the
 * repository's hooks, filters and links have no effect. git never prompts for a password. Throws
 * `unavailable`, and `missing` without git.
 */
export async function fetchGit(
  { url, ref }: GitSource,
  { host, folder }: { host: UpHost; folder: string },
  signal: AbortSignal,
): Promise<{ tarball: string; commit: string }> {
  const repository = join(folder, 'repository')
  const tarball = join(folder, 'repository.tar')
  const protocols = /^(http|file):/.exec(url)?.[1] ?? 'https:ssh' // a redirect must not lead to another protocol
  const own = { ...ALONE, GIT_ALLOW_PROTOCOL: protocols }
  const git = (args: readonly string[]) =>
    runGit(host, { args, env: { ...own, ...withoutUserConfig(folder) } }, signal)
  await git(['init', '--quiet', '--bare', '--template=', repository])
  const at = ['-C', repository]
  const quietly = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-commit-graph']
  const fetching = { args: [...at, 'fetch', ...quietly, '--', url, ref ?? 'HEAD'], env: own }
  await runGit(host, fetching, signal).catch((cause: unknown) => {
    if (!(cause instanceof CrabError) || cause.kind !== 'failed') throw cause
    throw new CrabError('unavailable', `Cannot fetch ${url}: ${cause.message}`, { cause })
  })
  const commit = (await git([...at, 'rev-parse', '--verify', 'FETCH_HEAD^{commit}'])).trim()
  await git([...at, 'archive', '--format=tar', '--prefix=package/', `--output=${tarball}`, commit])
  return { tarball, commit }
}

/** Formats a source as an argument that works in any directory. */
export function formatGitSource({ url, ref }: GitSource): string {
  return ref === undefined ? url : `${url}#${ref}`
}

async function runGit(
  host: UpHost,
  { args, env: own }: { args: readonly string[]; env: UpHost['env'] },
  signal: AbortSignal,
): Promise<string> {
  const env = { ...host.env, ...own }
  const { code, stdout, stderr } = await host.run(
    ['git', ...SAFE.flatMap((setting) => ['-c', setting]), ...args],
    { env, timeoutMs: TIMEOUT_MS },
    signal,
  )
  if (signal.aborted) throw toCancelledError(signal) // Ctrl-C ends git as well
  if (code === 0) return stdout
  const lines = stderr.trim().split('\n')
  const message = lines.find((line) => /^(fatal|error|remote):/.test(line)) ?? lines.at(-1) ?? ''
  throw new CrabError('failed', message.replace(/^(fatal|error): /, '') || `git ended with ${code}`)
}

/**
 * Hides the user's git configuration, which only a fetch needs: the package's attributes could name filters
 * in it.
 */
function withoutUserConfig(folder: string): UpHost['env'] {
  return { HOME: folder, XDG_CONFIG_HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Settings that the user's configuration may enable but that a package must not be able to use. */
const SAFE = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'submodule.recurse=false',
  'transfer.bundleURI=false',
  'gc.auto=0',
  'maintenance.auto=false',
]
const ALONE = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  LC_ALL: 'C',
}
const TIMEOUT_MS = 5 * 60_000
