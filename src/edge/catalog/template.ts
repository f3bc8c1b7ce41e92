import * as z from 'zod/mini'
import type { JsonObject } from '../../core/base/message.ts'
import { sha256 } from '../../core/base/sha256.ts'
import { mcpEntry } from '../../core/config/mcp-entry.ts'
import {
  checkValue,
  filledString,
  httpAddress,
  isTable,
  strictTable,
  type TableIssue,
  tableCheck,
} from '../../core/config/schema.ts'
import { parseToml, toFileIssues } from '../../core/config/toml.ts'
import { formatPath, type Result, type ValidationIssue } from '../../core/config/validation-issue.ts'
import { findPlaceholders, mapTexts, PLACES } from './placeholders.ts'

/** A server of the catalog. `version` identifies the text of the template: 12 hexadecimal digits of its SHA-256. */
export type Template = z.infer<typeof templateSchema> & { version: string }

/** A value of a template that is not secret, such as a directory. */
export type TemplateParameter = NonNullable<Template['parameters']>[number]

/** A secret that a server needs, and where to get it. */
export type TemplateCredential = NonNullable<Template['credentials']>[number]

const templateSchema = z.lazy(() =>
  strictTable({
    id: z.string().check(z.regex(ID, 'must be 1 to 32 of a-z, 0-9 and -, and not start or end with -')),
    name: filledString(),
    description: filledString(),
    category: filledString(),
    tags: z.exactOptional(z.array(filledString())),
    runtime: z.exactOptional(z.array(filledString())),
    homepage: z.exactOptional(httpAddress()),
    setup: z.exactOptional(filledString()),
    server: z.record(z.string(), z.unknown()),
    oauth: z.exactOptional(strictTable({ registration: z.enum(['dynamic', 'manual']) })),
    parameters: z.exactOptional(
      z.array(
        strictTable({
          name: variable(),
          label: filledString(),
          help: z.exactOptional(filledString()),
          default: z.exactOptional(z.string()),
          path: z.exactOptional(z.boolean()),
          many: z.exactOptional(z.boolean()),
        }),
      ),
    ),
    credentials: z.exactOptional(
      z.array(
        strictTable({
          name: variable(),
          label: filledString(),
          help: z.exactOptional(filledString()),
          url: z.exactOptional(httpAddress()),
          required: z.exactOptional(z.boolean()),
        }),
      ),
    ),
  }).check(tableCheck(findTemplateConflicts)),
)

/** Reads a template; `file` is its name in problem reports. */
export function readTemplate(file: string, text: string): Result<Template> {
  const document = parseToml(file, text)
  if (!document.ok) return document
  const { table } = document.value
  const outcome = checkValue(templateSchema, table)
  const issues = [...(outcome.ok ? [] : outcome.problems), ...checkServer(table['server'])].map(explainPlace)
  if (!outcome.ok || issues.length > 0) return { ok: false, problems: toFileIssues(document.value, issues) }
  const version = sha256(text.replaceAll('\r\n', '\n')).toString('hex', 0, 6)
  return { ok: true, value: { ...outcome.value, version } }
}

/** Checks the server as an entry, with an address in place of every placeholder, which is valid everywhere. */
function checkServer(server: unknown): readonly ValidationIssue[] {
  if (!isTable(server)) return []
  const sample = mapTexts(server, (text) => text.replaceAll(/\$\{\w+\}/g, SAMPLE)) as JsonObject
  const outcome = checkValue(serverSchema, { server: { ...sample, name: 'sample' } })
  const own = INSTALLED_KEYS.filter((key) => Object.hasOwn(server, key)).map((key) => ({
    path: ['server', key],
    message: `"server.${key}" is written by the installation`,
  }))
  return [...(outcome.ok ? [] : outcome.problems), ...own]
}

const serverSchema = z.lazy(() => strictTable({ server: mcpEntry }))

/** Says where an unknown key of a table belongs when it is a key of the template: TOML gave it to the table above it. */
function explainPlace(issue: ValidationIssue): ValidationIssue {
  const key = String(issue.path.at(-1))
  if (issue.path.length < 2 || !issue.message.startsWith('unknown key') || !TOP_KEYS.has(key)) return issue
  const header = formatPath(issue.path.slice(0, 1))
  return { ...issue, hint: `move it above the line [${header}], the first one of that table` }
}

function* findTemplateConflicts(template: Record<string, unknown>): Generator<TableIssue> {
  const server = isTable(template['server']) ? template['server'] : {}
  const parameters = namedTables(template['parameters'])
  const credentials = namedTables(template['credentials'])
  const declared = [
    ...parameters.map(({ name }, i) => ({ name, path: ['parameters', i, 'name'] })),
    ...credentials.map(({ name }, i) => ({ name, path: ['credentials', i, 'name'] })),
  ]
  const used = new Set(findPlaceholders(JSON.stringify(server)))
  for (const [i, { name, path }] of declared.entries()) {
    if (declared.findIndex((one) => one.name === name) < i) yield { path, predicate: 'is declared twice' }
    if (!used.has(name)) yield { path, predicate: `is not used: [server] has no \${${name}}` }
  }
  const names = new Set(declared.map(({ name }) => name))
  for (const name of used) {
    if (!names.has(name))
      yield { path: ['server'], predicate: `uses \${${name}}, which is neither a parameter nor a credential` }
  }
  for (const { name } of credentials) if (used.has(name)) yield* findMisplacedSecret(name, server)
  for (const [i, parameter] of parameters.entries()) yield* findParameterIssues(parameter, i, server)
}

/** A credential reaches its server through a helper, so it can only be a whole variable, or the token of an address. */
function* findMisplacedSecret(name: string, server: Record<string, unknown>): Generator<TableIssue> {
  const { env, auth, ...rest } = server
  const whole = `\${${name}}`
  const isVariable = isTable(env) && env[name] === whole
  const others = isTable(env) ? Object.entries(env).filter(([key]) => key !== name) : []
  const isElsewhere = JSON.stringify([rest, others]).includes(whole)
  if (isElsewhere || !(isVariable || auth === whole)) {
    const predicate = `uses the credential ${name} in a place where it would be stored`
    const hint = `use it as auth = "${whole}", or as env = { ${name} = "${whole}" }`
    yield { path: ['server'], predicate, hint }
  }
}

function* findParameterIssues(
  { name, default: initial, many }: NamedTable,
  i: number,
  { args }: Record<string, unknown>,
): Generator<TableIssue> {
  if (many === true && !(Array.isArray(args) && args.includes(`\${${name}}`)))
    yield { path: ['parameters', i, 'many'], predicate: `needs "\${${name}}" as a word of args` }
  const known: readonly string[] = PLACES
  const foreign =
    typeof initial === 'string' ? findPlaceholders(initial).find((one) => !known.includes(one)) : undefined
  if (foreign !== undefined) {
    const predicate = `uses \${${foreign}}, which is none of ${PLACES.join(', ')}`
    yield { path: ['parameters', i, 'default'], predicate }
  }
}

type NamedTable = Record<string, unknown> & { name: string }

function namedTables(value: unknown): NamedTable[] {
  const tables = Array.isArray(value) ? value.filter(isTable) : []
  return tables.filter((table): table is NamedTable => typeof table['name'] === 'string')
}

function variable(): z.ZodMiniString {
  return z.string().check(z.regex(/^[A-Za-z_]\w{0,99}$/, 'must be letters, digits and _'))
}

const ID = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/
const SAMPLE = 'https://sample.invalid'
/** The keys of an entry that a template does not have. */
const INSTALLED_KEYS = ['name', 'origin', 'disabled']
/** The keys above the first table of a template. */
const TOP_KEYS = new Set(['id', 'name', 'description', 'category', 'tags', 'runtime', 'homepage', 'setup'])
