import { lstat, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissingFile, makePrivateDir, replaceFile, toStorageError } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'
import type { SocketEndpoint } from './endpoint.ts'
import type { LocalEndpoint } from './local-endpoint.ts'

/**
 * Returns the endpoint of a home's daemon, or undefined when no daemon has published one.
 *
 * A socket outside the home is only used when the address file names it and it belongs to the user of the
 * home: other users can create sockets in a temporary directory, and client and server may use different
 * ones.
 */
export async function readAddressFile({
  endpoint,
  addressFile,
}: LocalEndpoint): Promise<SocketEndpoint | undefined> {
  if (addressFile === undefined) return endpoint
  const path = await readPath(addressFile)
  if (!path.startsWith('/') || (await ownership(path, addressFile)) === 'foreign') return undefined
  return { kind: 'unix', path }
}

/**
 * Returns the path for a new socket outside the home: `path`, or another one in the same folder when a file
 * of another user occupies it. Clients read the path from the address file.
 */
export async function freePath(path: string, addressFile: string): Promise<string> {
  await makePrivateDir(dirname(addressFile))
  if ((await ownership(path, addressFile)) !== 'foreign') return path
  return path.replace(/(?:\.sock)?$/, `-${newUlid().slice(-8).toLowerCase()}.sock`)
}

/** Whether a file belongs to the user of the home or to root; `missing` when it does not exist. */
async function ownership(path: string, addressFile: string): Promise<'own' | 'foreign' | 'missing'> {
  const [file, run] = await Promise.all([
    lstat(path).catch(() => undefined), // a file this user cannot inspect counts as missing
    stat(dirname(addressFile)).catch(() => undefined),
  ])
  if (!file) return 'missing'
  return file.uid === run?.uid || file.uid === 0 ? 'own' : 'foreign'
}

/** Publishes the path of the socket; the file has mode 0600. */
export async function writeAddress(addressFile: string, path: string): Promise<void> {
  await replaceFile(addressFile, `${path}\n`)
}

/** Removes the address file, unless it names another socket by now. */
export async function removeAddress(addressFile: string, path: string): Promise<void> {
  if ((await readPath(addressFile)) === path) await rm(addressFile, { force: true })
}

async function readPath(addressFile: string): Promise<string> {
  try {
    return (await readFile(addressFile, 'utf8')).trimEnd()
  } catch (reason) {
    if (isMissingFile(reason)) return ''
    throw toStorageError(`Cannot read ${addressFile}`, reason)
  }
}
