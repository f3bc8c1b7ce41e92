import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const LOCK = join(import.meta.dirname, '../../package-lock.json')

/** Where a package lies in package-lock.json, as far as it matters here. */
interface Locked {
  version: string
  integrity: string
}

interface Place {
  /** Folder of tarballs that were fetched before, and of what was unpacked. */
  cache: string
  lock?: string
  env?: NodeJS.ProcessEnv
}

/**
 * A file of an npm package in the version that package-lock.json names, unpacked below `cache`. The tarball is held
 * against the lock's integrity each time: one that was changed on this disk is fetched anew, one that was changed on the
 * way ends the build.
 */
export async function fetchFile(
  { package: name, file }: { package: string; file: string },
  { cache, lock = LOCK, env = process.env }: Place,
): Promise<string> {
  const { version, integrity } = await lockedVersion(name, lock)
  const target = join(cache, 'unpacked', `${name.replace('/', '-')}-${version}`, file)
  const tarball = await fetchTarball(`${name}@${version}`, integrity, { cache, env })
  await mkdir(dirname(target), { recursive: true })
  await run('tar', [
    '-xzf',
    tarball,
    '-C',
    dirname(dirname(target)),
    '--strip-components=1',
    `package/${file}`,
  ])
  return target
}

async function lockedVersion(name: string, lock: string): Promise<Locked> {
  const { packages } = JSON.parse(await readFile(lock, 'utf8')) as { packages: Record<string, Locked> }
  const locked = packages[`node_modules/${name}`]
  if (locked?.integrity) return locked
  throw new Error(`Cannot fetch ${name}: package-lock.json does not name it`)
}

async function fetchTarball(
  spec: string,
  integrity: string,
  { cache, env }: { cache: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const path = join(cache, `${spec.replaceAll(/[@/]/g, '-').replace(/^-/, '')}.tgz`)
  const there = await readFile(path).catch(() => undefined)
  if (there && integrityOf(there) === integrity) return path
  await mkdir(cache, { recursive: true })
  const { stdout } = await run('npm', ['pack', spec, '--silent', '--pack-destination', cache], { env })
  const packed = join(cache, stdout.trim().split('\n').at(-1)!)
  const bytes = await readFile(packed)
  if (integrityOf(bytes) !== integrity)
    throw new Error(`Cannot use ${spec}: it is not what package-lock.json names`)
  await rename(packed, path)
  return path
}

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`
}
