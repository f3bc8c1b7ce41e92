import { dirname, join } from 'node:path'
import { makePrivateDir, replaceFile } from '../core/base/files.ts'
import { parseStatements, parseVariables, stripBom } from '../core/config/env-file-text.ts'
import { readTextFile } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { EnvGrant, ServiceManager, ServiceSpec } from './types.ts'

/**
 * Returns the path of the environment file of one component, which crabup writes from service.env before each
 * start.
 */
export function ownEnvFile({ run }: Pick<HomePaths, 'run'>, name: string): string {
  return join(run, 'env', `${name}.env`)
}

/**
 * Builds the environment file of a component from the text of service.env. It keeps the variables that the
 * grant names, those that any program needs for networking, locale and time zone, and those with the
 * component's prefix: `CLOCK__KEY` becomes `KEY`.
 */
export function ownEnvText(text: string, grant: EnvGrant): string {
  const rows = stripBom(text).split(/\r?\n/)
  const own = toPrefix(grant.service)
  const lines = [...parseStatements(text)].flatMap(({ at, count, name }) => {
    if (name === undefined || !isGranted(name, grant)) return []
    const [first = '', ...rest] = rows.slice(at, at + count)
    return [name.startsWith(own) ? first.replace(own, '') : first, ...rest]
  })
  return `# Written by crabup from service.env: what ${grant.service} gets of it.\n${lines.map((row) => `${row}\n`).join('')}`
}

/** Returns the names of the service.env variables that a component receives, sorted. */
export function ownVariables(text: string, grant: EnvGrant): string[] {
  return Object.keys(parseVariables(ownEnvText(text, grant)))
}

/** Wraps a manager so that it writes a component's environment file before starting it. */
export function withOwnEnv(manager: ServiceManager): ServiceManager {
  const prepared =
    (verb: 'start' | 'restart' | 'enable') =>
    async (spec: ServiceSpec, signal: AbortSignal): Promise<void> => {
      await writeOwnEnv(spec)
      await manager[verb](spec, signal)
    }
  return {
    kind: manager.kind,
    get note() {
      return manager.note
    },
    unit: (spec) => manager.unit(spec),
    guardUnit: (spec) => manager.guardUnit?.(spec),
    commands: (verb, spec) => manager.commands(verb, spec),
    start: prepared('start'),
    restart: prepared('restart'),
    enable: prepared('enable'),
    stop: (spec, signal) => manager.stop(spec, signal),
    disable: (spec, signal) => manager.disable(spec, signal),
    remove: (label, signal) => manager.remove(label, signal),
    status: (labels, signal) => manager.status(labels, signal),
    labels: (signal) => manager.labels(signal),
  }
}

/**
 * Throws `storage`. An unchanged file keeps its modification time, because a running service has already
 * loaded it.
 */
async function writeOwnEnv({ grant, envFile }: ServiceSpec): Promise<void> {
  if (!grant) return
  const text = ownEnvText((await readTextFile(grant.from)) ?? '', grant)
  if (text === (await readTextFile(envFile))) return
  await makePrivateDir(dirname(envFile))
  await replaceFile(envFile, text)
}

function isGranted(name: string, { service, names }: EnvGrant): boolean {
  return names.includes(name) || USUAL.test(name) || name.startsWith(toPrefix(service))
}

function toPrefix(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}__`
}

const USUAL =
  /^(?:PATH|TZ|LANG|LANGUAGE|LC_\w+|(?:HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i
