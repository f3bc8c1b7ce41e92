import { lstat, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissingFile, makePrivateDir, replaceFile, toStorageError } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'
import type { SocketEndpoint } from './endpoint.ts'
import type { LocalEndpoint } from './local-endpoint.ts'

/**
 * Where a client finds the daemon of a home, or undefined when no daemon has said where it is.
 *
 * A socket outside the home is used only when the address file names it and it belongs to the user of the home: others can
 * make sockets in a temporary directory, and client and server may have different ones.
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
 * The path for a new socket outside the home: that path, or another in the same folder when a file of another user is in its
 * place. Clients read it from the address file.
 */
export async function freePath(path: string, addressFile: string): Promise<string> {
  await makePrivateDir(dirname(addressFile))
  if ((await ownership(path, addressFile)) !== 'foreign') return path
  return path.replace(/(?:\.sock)?$/, `-${newUlid().slice(-8).toLowerCase()}.sock`)
}

/** Whether a file belongs to the user of the home, or to root; `missing` when it is not there. */
async function ownership(path: string, addressFile: string): Promise<'own' | 'foreign' | 'missing'> {
  const [file, run] = await Promise.all([
    lstat(path).catch(() => undefined), // what cannot be looked at is not there, for this user
    stat(dirname(addressFile)).catch(() => undefined),
  ])
  if (!file) return 'missing'
  return file.uid === run?.uid || file.uid === 0 ? 'own' : 'foreign'
}

/** Says where the socket is, mode 0600. */
export async function writeAddress(addressFile: string, path: string): Promise<void> {
  await replaceFile(addressFile, `${path}\n`)
}

/** Removes the file, unless it names another socket meanwhile. */
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
