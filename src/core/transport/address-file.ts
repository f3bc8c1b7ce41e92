import { readFile, rm } from 'node:fs/promises'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import type { Endpoint } from './endpoint.ts'
import type { LocalEndpoint } from './local-endpoint.ts'

/**
 * Where a client finds the daemon of a home, or undefined when no daemon has said where it is.
 *
 * A socket outside the home is believed in only when the address file names it: anybody may have made one of that name
 * in a temporary directory, and client and server may have different ones.
 */
export async function readAddress({ endpoint, addressFile }: LocalEndpoint): Promise<Endpoint | undefined> {
  if (addressFile === undefined) return endpoint
  const path = await readPath(addressFile)
  return path.startsWith('/') ? { kind: 'unix', path } : undefined
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
