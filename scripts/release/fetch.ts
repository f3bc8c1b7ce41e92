import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const LOCK = join(import.meta.dirname, '../../package-lock.json')

/** The fields of a package in package-lock.json that are used here. */
interface Locked {
  version: string
  integrity: string
}

interface Place {
  /** The folder of downloaded tarballs and of unpacked files. */
  cache: string
  lock?: string
  env?: NodeJS.ProcessEnv
}

/**
 * Fetches a file of an npm package in the version of package-lock.json and unpacks it below `cache`. The
 * tarball is checked against the lock's integrity each time: a tarball changed on disk is downloaded again,
 * one changed in transit ends the build.
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
  const entry = packages[`node_modules/${name}`]
  if (entry?.integrity) return entry
  throw new Error(`Cannot fetch ${name}: package-lock.json does not name it`)
}

async function fetchTarball(
  spec: string,
  integrity: string,
  { cache, env }: { cache: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const path = join(cache, `${spec.replaceAll(/[@/]/g, '-').replace(/^-/, '')}.tgz`)
  const cached = await readFile(path).catch(() => undefined)
  if (cached && computeIntegrity(cached) === integrity) return path
  await mkdir(cache, { recursive: true })
  const { stdout } = await run('npm', ['pack', spec, '--silent', '--pack-destination', cache], { env })
  const packed = join(cache, stdout.trim().split('\n').at(-1)!)
  const bytes = await readFile(packed)
  if (computeIntegrity(bytes) !== integrity)
    throw new Error(`Cannot use ${spec}: it is not what package-lock.json names`)
  await rename(packed, path)
  return path
}

function computeIntegrity(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`
}
