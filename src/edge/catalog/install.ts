import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sha256 } from '../../core/base/sha256.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { isTable } from '../../core/config/schema.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import { findPlaceholders, type InstallPlaces, mapTexts, replacePlaceholders } from './placeholders.ts'
import type { Template, TemplateParameter } from './template.ts'

/** The inputs of an installation. */
export interface InstallInput {
  /** The name of the entry; by default the id of the template. */
  name?: string | undefined
  /** The agent that gets the entry. */
  agent: string
  /** The values of parameters, by name; the others have their default. */
  values: ReadonlyMap<string, readonly string[]>
  places: InstallPlaces
  /** The names of the credentials that can be found. */
  available: ReadonlySet<string>
}

/** An entry made from a template. It holds no secret: `env_helper` and `auth_helper` supply credentials. */
export interface PlannedServer {
  /** `setup`: the server cannot be used before the missing steps are done. */
  status: 'ready' | 'setup'
  entry: McpEntry
  missing: readonly MissingStep[]
}

/** A step that the user has to take before a server can be used. */
export interface MissingStep {
  /** The name of the credential, or `login`. */
  name: string
  label: string
  help?: string | undefined
  /** The page on which the user gets it. */
  url?: string | undefined
  /** The command that completes the step. */
  command: string
}

/** The entry of an agent that was installed from a template. */
export interface InstalledServer {
  name: string
  /** Whether the template is the one that it was installed from. */
  isCurrent: boolean
  /** Whether the user changed the entry since, except for values that are hidden. */
  isEdited: boolean
  /** The values of the parameters that it was installed with. */
  values: ReadonlyMap<string, readonly string[]>
}

/** Makes the entry of a template; changes nothing. Throws `usage` for a parameter that is unknown or missing. */
export function planInstallation(
  template: Template,
  { name = template.id, agent, values, places, available }: InstallInput,
): PlannedServer {
  const { server, oauth, parameters = [], credentials = [], id, version } = template
  refuseUnknown(template, values)
  const filled = new Map(parameters.map((one) => [one.name, toValues(template, one, { values, places })]))
  const missing = credentials.filter((one) => one.required !== false && !available.has(one.name))
  const used = credentials.filter((one) => one.required !== false || available.has(one.name))
  const secrets = new Set(credentials.map((one) => one.name))
  const isSecret = (text: unknown) => typeof text === 'string' && secrets.has(findPlaceholders(text)[0] ?? '')
  const { args, env, auth, ...rest } = server
  const fill = (value: unknown) => mapTexts(value, (text) => replacePlaceholders(text, firstValues(filled)))
  const variables = Object.entries(isTable(env) ? env : {}).filter(([, text]) => !isSecret(text))
  const helper = ['crabtalk', 'vault', auth === undefined ? 'env' : 'header', ...used.map((one) => one.name)]
  const entry = {
    name,
    ...(fill(rest) as JsonObject),
    ...(Array.isArray(args) && {
      args: args.flatMap((word): unknown[] => [...(manyValues(word, filled) ?? [fill(word)])]),
    }),
    ...(variables.length > 0 && { env: fill(Object.fromEntries(variables)) }),
    ...(auth !== undefined && !isSecret(auth) && { auth: fill(auth) }),
    ...(used.length > 0 && { [auth === undefined ? 'env_helper' : 'auth_helper']: helper }),
    ...(oauth && { auth_helper: LOGIN_HELPER }),
  } as McpEntry
  const canonical = toCanonical(template)
  const origin = {
    catalog: id,
    version,
    ...(filled.size > 0 && { parameters: Object.fromEntries(filled) }),
    ...(Object.keys(canonical).length > 0 && { canonical }),
  }
  const steps = [
    ...missing.map(({ name: key, label, help, url }) => ({
      name: key,
      label,
      help,
      url,
      command: `crabtalk vault set ${key}`,
    })),
    ...(oauth ? [toLoginStep({ name, agent }, oauth.registration)] : []),
  ]
  const status = steps.length === 0 ? 'ready' : 'setup'
  return { status, entry: { ...entry, origin: { ...origin, entry: digestEntry(entry) } }, missing: steps }
}

/** Returns the entries that were installed from a template, as an agent's entries show it; secrets may be hidden. */
export function findInstalledServers(entries: readonly McpEntry[], template: Template): InstalledServer[] {
  return entries
    .filter(({ origin }) => origin?.['catalog'] === template.id)
    .map((entry) => ({
      name: entry.name,
      isCurrent: entry.origin?.['version'] === template.version,
      isEdited: entry.origin?.['entry'] !== digestEntry(entry),
      values: readValues(entry.origin?.['parameters']),
    }))
}

/** Throws `conflict` when the agent has another server of that name, or one whose tools would have the same names. */
export function refuseTakenName(agent: string, entries: readonly McpEntry[], name: string): void {
  const taken = findNameClash(entries, name)
  if (taken === undefined) return
  const why =
    taken === name ? 'it has a server of that name' : `the tools of its server "${taken}" have the same names`
  throw new CrabError('conflict', `Cannot install "${name}" for ${agent}: ${why}`, {
    hint: 'choose another name with --name',
  })
}

/** Keeps the hidden values of an installed entry, such as variables that the user changed, in the one that replaces it. */
export function keepHiddenValues(next: McpEntry, installed: McpEntry): McpEntry {
  if (!next.env || !installed.env) return next
  const known = installed.env
  const env = Object.entries(next.env).map(([key, value]) => [
    key,
    Object.hasOwn(known, key) ? known[key] : value,
  ])
  return { ...next, env: Object.fromEntries(env) }
}

function refuseUnknown(
  { id, parameters = [], credentials = [] }: Template,
  values: InstallInput['values'],
): void {
  for (const name of values.keys()) {
    if (parameters.some((one) => one.name === name)) continue
    if (credentials.some((one) => one.name === name)) {
      throw new CrabError(
        'usage',
        `Cannot take ${name} here: a secret on a command line is visible to others`,
        {
          hint: `crabtalk vault set ${name} asks for it`,
        },
      )
    }
    const names = parameters.map((one) => one.name).join(', ')
    throw new CrabError('usage', `Cannot set ${name}: ${id} has no such parameter`, {
      hint: names === '' ? `${id} has no parameters` : `its parameters are ${names}`,
    })
  }
}

function toValues(
  { id }: Template,
  { name, label, default: initial, many }: TemplateParameter,
  { values, places }: Pick<InstallInput, 'values' | 'places'>,
): readonly string[] {
  const texts =
    values.get(name) ?? (initial === undefined ? undefined : [replacePlaceholders(initial, places)])
  if (texts === undefined) {
    throw new CrabError('usage', `Cannot install ${id}: it needs ${name}: ${label}`, {
      hint: `crabtalk mcp install ${id} ${name}=…`,
    })
  }
  if (texts.length === 1 || many) return texts
  throw new CrabError('usage', `Cannot use ${texts.length} values for ${name}: it takes one`, {
    hint: `write ${name}=VALUE once`,
  })
}

function firstValues(filled: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  return Object.fromEntries([...filled].map(([name, [first = '']]) => [name, first]))
}

/** Returns all values of a parameter that is a word of its own; undefined for other words. */
function manyValues(
  word: unknown,
  filled: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const [, name = ''] = typeof word === 'string' ? (/^\$\{(\w+)\}$/.exec(word) ?? []) : []
  return filled.get(name)
}

/** Returns the credentials of an entry by the path at which a file for other programs has them. */
function toCanonical({ server, credentials = [] }: Template): Record<string, string> {
  const { auth } = server
  return Object.fromEntries(
    credentials.map(({ name }) => [auth === `\${${name}}` ? 'auth' : `env.${name}`, `\${${name}}`]),
  )
}

function toLoginStep(
  { name, agent }: { name: string; agent: string },
  registration: 'dynamic' | 'manual',
): MissingStep {
  const owner = agent === DEFAULT_AGENT ? '' : `-a ${agent} `
  const more = registration === 'manual' ? ' --client-id ID --client-secret' : ''
  return {
    name: 'login',
    label: 'A login in the browser',
    command: `crabtalk mcp login ${owner}${name}${more}`,
  }
}

/** Computes a digest of what the user can change, as it is shown, so that stored and shown entries have the same one. */
function digestEntry(entry: McpEntry): string {
  const { origin: _origin, name: _name, disabled: _disabled, ...rest } = redactEntry(entry)
  return sha256(JSON.stringify(sortKeys(rest))).toString('hex', 0, 6)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isTable(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]))
}

function readValues(parameters: unknown): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(isTable(parameters) ? parameters : {})
  return new Map(entries.filter((entry): entry is [string, string[]] => Array.isArray(entry[1])))
}

/** The helper that prints the token of a login; its address comes from the environment. */
const LOGIN_HELPER = ['crabtalk', 'mcp', 'token']
