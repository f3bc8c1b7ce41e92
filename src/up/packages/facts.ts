import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** The facts shown about a package before it is installed. All texts are untrusted. */
export interface PackageFacts {
  package: string
  version: string
  description: string
  /** The publisher of this version according to the registry; undefined when unknown, and for files. */
  publisher: string | undefined
  maintainers: readonly string[]
  /** An ISO 8601 time. */
  publishedAt: string | undefined
  /** The unpacked size of the package alone, without its dependencies. */
  bytes: number | undefined
  /** The direct dependencies that npm installs, including optional ones and required peers. */
  dependencies: readonly string[]
  /** The install scripts that npm would run; crabup never runs them. */
  scripts: readonly string[]
  /** The variables of service.env that it asks for: `"crabtalk": {"env": ["NAME"]}` in its package.json. */
  variables: readonly string[]
  /** The range of Node versions it declares. */
  node: string | undefined
  license: string | undefined
  homepage: string | undefined
  deprecated: string | undefined
  /**
   * Whether the registry lists a signature or a provenance attestation; npm verifies the integrity, but not
   * these.
   */
  hasSignature: boolean
  hasProvenance: boolean
}

/** Extracts the facts from the output of `npm view` or from a package.json. */
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

/** Names that are not valid shell variables are ignored. */
function listVariables({ crabtalk }: JsonObject): string[] {
  const names = isObject(crabtalk) && Array.isArray(crabtalk['env']) ? crabtalk['env'] : []
  const known = names.filter((name) => typeof name === 'string' && /^[A-Za-z_]\w{0,127}$/.test(name))
  return [...new Set<string>(known)].slice(0, MAX_VARIABLES)
}

/** Formats a person as `name <mail>`, like npm; the registry stores people as objects. */
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
