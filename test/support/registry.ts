import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** A package to publish: its package.json and its other files. */
export interface Publication {
  manifest: { name: string; version: string } & Record<string, unknown>
  files?: Readonly<Record<string, string>>
  /** The publisher, `name <mail>`. */
  publisher?: string
}

/** An npm registry on its own port, whose tarballs come from `npm pack`. */
export interface Registry extends AsyncDisposable {
  readonly url: string
  /** The requested paths, in order. */
  readonly requests: readonly string[]
  /**
   * Writes the folders of packages and packs their tarballs in one run; returns the paths of both. The last
   * package of a name becomes its latest version.
   */
  publish(...publications: readonly Publication[]): Promise<{ folder: string; tarball: string }[]>
  /**
   * Finds the data that npm shows for `name` or `name@version`, and the tarball; a published folder is also
   * found by its path.
   */
  find(spec: string): { shown: Record<string, unknown>; tarball: string } | undefined
  /** Serves these bytes for a tarball, regardless of the registry's data about it. */
  replace(name: string, version: string, content: Buffer): void
  /** Answers with this status from now on; undefined answers normally. */
  fail(status: number | undefined): void
  /** Holds back requests for tarballs until it is called again with false; resolves when the first one waits. */
  hold(isHeld: boolean): Promise<void>
  /** The environment for npm: this registry, its own cache, no retries. */
  readonly env: Readonly<Record<string, string>>
}

/** Opens an empty registry. */
export async function openRegistry(): Promise<Registry> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-npm-'))
  const versions = new Map<string, Version[]>()
  const requests: string[] = []
  const gate = { status: undefined as number | undefined, held: [] as (() => void)[], isHeld: false }
  const waiting = { one: Promise.withResolvers<void>() }
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    requests.push(path)
    if (gate.status !== undefined)
      return response.writeHead(gate.status).end('{"error":"as the test wants it"}')
    if (gate.isHeld && path.endsWith('.tgz')) {
      waiting.one.resolve()
      await new Promise<void>((resolve) => gate.held.push(resolve))
    }
    const answer = answerRequest(path, versions, `http://${request.headers.host}`)
    return response
      .writeHead(answer ? 200 : 404, { 'content-type': answer?.type ?? 'application/json' })
      .end(answer?.body ?? '{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  let count = 0
  return {
    url,
    requests,
    env: {
      npm_config_registry: url,
      npm_config_cache: join(folder.path, 'cache'),
      npm_config_fetch_retries: '0',
    },
    async publish(...publications) {
      const folders = await Promise.all(
        publications.map(async ({ manifest, files = {} }) => {
          count += 1
          const at = join(folder.path, `${count}`)
          await writeTree(at, { ...files, 'package.json': JSON.stringify(manifest) })
          return at
        }),
      )
      const args = [
        'pack',
        '--json',
        '--ignore-scripts',
        '--offline',
        '--pack-destination',
        folder.path,
        ...folders,
      ]
      const { stdout } = await run('npm', args, {
        env: { ...process.env, npm_config_cache: join(folder.path, 'packed') }, // npm caches what it packs
      })
      const packed: { filename: string }[] = Object.values(JSON.parse(stdout))
      const contents = await Promise.all(packed.map(({ filename }) => readFile(join(folder.path, filename))))
      return publications.map((publication, i) => {
        const made = { folder: folders[i]!, tarball: join(folder.path, packed[i]!.filename) }
        const known = versions.get(publication.manifest.name) ?? []
        versions.set(publication.manifest.name, [
          ...known,
          { ...publication, ...made, content: contents[i]! },
        ])
        return made // in order, because the last one is the latest
      })
    },
    find(spec) {
      const all = [...versions.values()].flatMap((known) => known.toReversed())
      const one = all.find(
        ({ manifest, folder }) =>
          spec === manifest.name || spec === `${manifest.name}@${manifest.version}` || spec === folder,
      )
      return one && { shown: toShown(one, url), tarball: one.tarball }
    },
    replace(name, version, content) {
      const all = versions.get(name) ?? []
      const one = all.find(({ manifest }) => manifest.version === version)!
      versions.set(name, [...all.filter((other) => other !== one), { ...one, served: content }])
    },
    fail(status) {
      gate.status = status
    },
    async hold(isHeld) {
      gate.isHeld = isHeld
      if (isHeld) {
        waiting.one = Promise.withResolvers()
        return await waiting.one.promise
      }
      for (const release of gate.held.splice(0)) release()
    },
    async [Symbol.asyncDispose]() {
      for (const release of gate.held.splice(0)) release()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await folder.remove()
    },
  }
}

/**
 * Returns the files of a small component that writes its version into `run/<name>.version` and serves until it
 * is ended.
 */
export function componentFiles(name: string, { fails = false } = {}): Record<string, string> {
  const body = fails
    ? `console.error('this version cannot start'); process.exitCode = 78`
    : `import { createServer } from 'node:http'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from './package.json' with { type: 'json' }
const server = createServer((request, response) => {
  response.end(JSON.stringify({ name: '${name}', version: manifest.version, pid: process.pid, started: new Date().toISOString() }))
})
server.listen(0, '127.0.0.1', () => {
  const file = join(process.env.CRABTALK_HOME, 'run', '${name}.port')
  writeFileSync(file + '.tmp', String(server.address().port))
  renameSync(file + '.tmp', file)
})
process.once('SIGTERM', () => process.exit(0))`
  return { 'main.mjs': `#!/usr/bin/env node\n${body}\n` }
}

/** Writes files by paths relative to a folder; those that begin with #! are executable. */
export async function writeTree(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    if (text.startsWith('#!')) await chmod(join(folder, path), 0o755)
  }
}

interface Version extends Publication {
  content: Buffer
  tarball: string
  folder: string
  /** Served instead of the content. */
  served?: Buffer
}

function answerRequest(
  path: string,
  versions: ReadonlyMap<string, Version[]>,
  origin: string,
): { type: string; body: string | Buffer } | undefined {
  const [name = '', file] = path.split('/-/')
  const known = versions.get(name)
  if (!known) return undefined
  if (file === undefined)
    return { type: 'application/json', body: JSON.stringify(packument(name, known, origin)) }
  const version = known.find(({ manifest }) => file === `${manifest.version}.tgz`)
  return version && { type: 'application/octet-stream', body: version.served ?? version.content }
}

function packument(name: string, versions: readonly Version[], origin: string): object {
  return {
    name,
    'dist-tags': { latest: versions.at(-1)!.manifest.version },
    time: Object.fromEntries(versions.map(({ manifest }) => [manifest.version, PUBLISHED_AT])),
    maintainers: [{ name: 'ada', email: 'ada@example.com' }],
    versions: Object.fromEntries(versions.map((one) => [one.manifest.version, toVersion(one, origin)])),
  }
}

/** Returns the version in the format of `npm view --json`. */
function toShown(one: Version, origin: string): Record<string, unknown> {
  const { publisher = ADA, manifest } = one
  return {
    ...toVersion(one, origin),
    maintainers: [ADA],
    _npmUser: publisher,
    time: { [manifest.version]: PUBLISHED_AT },
  }
}

function toVersion({ manifest, publisher = ADA, content }: Version, origin: string): object {
  const [name, email] = publisher.replace('>', '').split(' <')
  return {
    ...manifest,
    maintainers: [{ name: 'ada', email: 'ada@example.com' }],
    _npmUser: { name, email },
    dist: {
      tarball: `${origin}/${manifest.name}/-/${manifest.version}.tgz`,
      integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
      unpackedSize: 1234,
    },
  }
}

const run = promisify(execFile)
const ADA = 'ada <ada@example.com>'
const PUBLISHED_AT = '2026-03-01T09:00:00.000Z'
