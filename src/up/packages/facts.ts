import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** What a person is shown of a package before it is installed. All texts are somebody else's. */
export interface PackageFacts {
  package: string
  version: string
  description: string
  /** Who published this version, as the registry says; undefined where it does not, and for files. */
  publisher: string | undefined
  maintainers: readonly string[]
  /** ISO 8601. */
  publishedAt: string | undefined
  /** Unpacked, of the package alone. */
  bytes: number | undefined
  /** What npm brings with it: also what the package could do without, and what it shares with others. */
  dependencies: readonly string[]
  /** The scripts that npm would run at installation, and that are not run. */
  scripts: readonly string[]
  /** The variables of service.env that it asks for: `"crabtalk": {"env": ["NAME"]}` in its package.json. */
  variables: readonly string[]
  /** The versions of Node it says that it runs on, as a range. */
  node: string | undefined
  license: string | undefined
  homepage: string | undefined
  deprecated: string | undefined
  /** What the registry has to vouch for it; npm checks the integrity, not these. */
  hasSignature: boolean
  hasProvenance: boolean
}

/** The facts in what `npm view` says of a version, or in a package.json. */
export function toFacts(manifest: JsonObject): PackageFacts {
  const text = (key: string) => asText(manifest[key])
  const dist = isObject(manifest['dist']) ? manifest['dist'] : {}
  const times = isObject(manifest['time']) ? manifest['time'] : {}
  const version = text('version') ?? ''
  const engines = isObject(manifest['engines']) ? manifest['engines'] : {}
  const size = dist['unpackedSize']
  return {
    package: text('name') ?? '',
    version,
    description: text('description') ?? '',
    publisher: formatPerson(manifest['_npmUser']),
    maintainers: asList(manifest['maintainers']).flatMap((one) => formatPerson(one) ?? []),
    publishedAt: asText(times[version]),
    bytes: typeof size === 'number' ? size : undefined,
    dependencies: listDependencies(manifest),
    scripts: listInstallScripts(manifest),
    variables: listVariables(manifest),
    node: asText(engines['node']),
    license: text('license'),
    homepage: text('homepage'),
    deprecated: text('deprecated'),
    hasSignature: asList(dist['signatures']).length > 0,
    hasProvenance: isObject(dist['attestations']) && 'provenance' in dist['attestations'],
  }
}

function listDependencies(manifest: JsonObject): string[] {
  const names = NEEDED.flatMap((key) => (isObject(manifest[key]) ? Object.keys(manifest[key]) : []))
  const meta = isObject(manifest['peerDependenciesMeta']) ? manifest['peerDependenciesMeta'] : {}
  const isLeftOut = (name: string) => isObject(meta[name]) && meta[name]['optional'] === true
  return [...new Set(names)].filter((name) => !isLeftOut(name))
}

function listInstallScripts({ scripts, gypfile }: JsonObject): string[] {
  const own = isObject(scripts) ? INSTALL_SCRIPTS.filter((name) => asText(scripts[name])) : []
  return gypfile === true && own.length === 0 ? ['install'] : own
}

/** Names that no shell takes are none. */
function listVariables({ crabtalk }: JsonObject): string[] {
  const names = isObject(crabtalk) && Array.isArray(crabtalk['env']) ? crabtalk['env'] : []
  const known = names.filter((name) => typeof name === 'string' && /^[A-Za-z_]\w{0,127}$/.test(name))
  return [...new Set<string>(known)].slice(0, MAX_VARIABLES)
}

/** `name <mail>`, as npm prints people; the registry has them as objects. */
function formatPerson(value: unknown): string | undefined {
  if (!isObject(value)) return asText(value)
  const [name, mail] = [asText(value['name']), asText(value['email'])]
  return name && mail ? `${name} <${mail}>` : (name ?? mail)
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

const NEEDED = ['dependencies', 'optionalDependencies', 'peerDependencies']
const MAX_VARIABLES = 64
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']
