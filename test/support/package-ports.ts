import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { CrabError } from '../../src/core/base/errors.ts'
import type { HomePaths } from '../../src/core/config/paths.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'
import { runTool } from '../../src/core/process/run-tool.ts'
import { findNpm, type Npm } from '../../src/up/packages/npm.ts'
import type { PackageOffer, PackagePorts } from '../../src/up/packages/ports.ts'
import type { UpHost } from '../../src/up/types.ts'
import type { Registry } from './registry.ts'

/** Ports with a registry of the test and simulated services. */
export interface TestPorts {
  ports: PackagePorts
  /** The offers that were shown, in order. */
  offers: PackageOffer[]
  /** Services that run. */
  running: Set<string>
  /** The requests to the services, such as `restart clock`. */
  serviceRequests: string[]
  /** Called at a restart. */
  onRestart: { now: (name: string) => Promise<void> }
  /** The services that are no longer restarted. */
  failed: Set<string>
  /** The resources that other processes have locked. */
  locked: Set<string>
}

interface TestPortsOptions {
  paths: HomePaths
  registry: Registry
  /** The user's home directory, where npm looks for settings. */
  home: string
  /** The PATH on which to find the real npm. */
  path?: string
  /** The version of the Node that services run on; by default this one. */
  node?: string
  /** Whether to run the real npm; otherwise a stand-in does its work in a tenth of the time. */
  isRealNpm?: boolean
}

/** Creates the ports. */
export function testPorts(at: TestPortsOptions): TestPorts {
  const offers: PackageOffer[] = []
  const running = new Set<string>()
  const serviceRequests: string[] = []
  const onRestart = { now: async (_name: string) => {} }
  const leases = new MemoryLeases()
  const locked = new Set<string>()
  const failed = new Set<string>()
  const env = { PATH: at.path ?? process.env['PATH'], HOME: at.home, ...at.registry.env }
  const host: UpHost = {
    env,
    platform: 'linux',
    pid: process.pid,
    uid: 0,
    homeDir: at.home,
    run: (argv, options, signal) => runTool(argv, { ...options, env: options.env ?? {} }, signal),
    now: () => Date.now(),
  }
  const ports: PackagePorts = {
    paths: at.paths,
    platform: 'linux',
    pid: process.pid,
    reserved: new Set(['ps', 'doctor']),
    now: () => Date.now(),
    npm: async () => (at.isRealNpm ? await findNpm(host, at.home) : paperNpm(at.registry)),
    lock: (resource, signal) => leases.take(resource, signal),
    isLocked: async (resource) => locked.has(resource),
    node: async () => ({ path: '/usr/bin/node', version: at.node ?? process.version }),
    services: {
      isRunning: async (name) => running.has(name),
      hasFailed: async (name) => failed.has(name),
      restart: async (name) => {
        serviceRequests.push(`restart ${name}`)
        await onRestart.now(name)
      },
      remove: async (name) => {
        serviceRequests.push(`remove ${name}`)
        running.delete(name)
      },
    },
    consent: async (offer) => void offers.push(offer),
    step: () => {},
  }
  return { ports, offers, running, serviceRequests, onRestart, locked, failed }
}

/** Creates a stand-in for npm with the registry of the test, for packages without dependencies. */
function paperNpm(registry: Registry): Npm {
  return {
    view: async (spec) => {
      const found = registry.find(spec)
      if (found) return found.shown
      throw new CrabError('missing', `Cannot look up ${spec}`)
    },
    pack: async (spec, folder) => {
      const to = join(folder, 'packed.tgz')
      const found = registry.find(spec)
      await copyFile(found?.tarball ?? `${spec}.tgz`, to)
      return to
    },
    install: async (tarball, prefix) => {
      const folder = join(prefix, 'unpacked')
      await mkdir(folder, { recursive: true })
      await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder])
      const { name } = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8'))
      const to = join(prefix, 'lib/node_modules', name)
      await mkdir(dirname(to), { recursive: true })
      await rename(join(folder, 'package'), to)
    },
  }
}
