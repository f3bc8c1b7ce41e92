import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { describeServerHelpers, type HelperKey, isServerHelper } from '../base/own-helpers.ts'
import {
  httpAddress,
  isTable,
  milliseconds,
  strictTable,
  type TableIssue,
  tableCheck,
  variableName,
  wholeNumber,
} from './schema.ts'

/**
 * One MCP server that an agent owns: a program (`command`) or a remote server (`url`).
 *
 * Every value is literal: `${VAR}` is not expanded. Keys are those of the file. Absent keys stay absent; the
 * code that runs the server applies the defaults.
 */
export type McpEntry = z.infer<typeof mcpEntry>

const SERVER_NAME = /^[a-z0-9]([a-z0-9-]|_(?!_)){0,31}(?<!_)$/
const SERVER_NAME_RULE =
  'must be 1 to 32 of a-z, 0-9, - and single _, and neither start with - or _ nor end with _'

/** The keys of programs and of remote servers. An entry has keys of one kind only. */
const STDIO_KEYS = ['command', 'args', 'env', 'env_helper', 'cwd']
const REMOTE_KEYS = ['url', 'headers', 'auth', 'auth_helper', 'transport']

/** The schema of one `[[mcps]]` table, built on first use. */
export const mcpEntry = z.lazy(() =>
  strictTable({
    name: z.string().check(z.regex(SERVER_NAME, SERVER_NAME_RULE)),
    command: z.exactOptional(filledText()),
    args: z.exactOptional(z.array(text())),
    env: z.exactOptional(z.record(variableName(), text())),
    env_helper: z.exactOptional(helper('env_helper')),
    cwd: z.exactOptional(filledText().check(z.refine(isAbsolute, 'must be an absolute path'))),
    url: z.exactOptional(httpAddress()),
    headers: z.exactOptional(z.record(headerName(), line())),
    auth: z.exactOptional(line()),
    auth_helper: z.exactOptional(helper('auth_helper')),
    include: z.exactOptional(names()),
    exclude: z.exactOptional(names()),
    permissions: z.exactOptional(
      strictTable({
        allow: z.exactOptional(toolGlobs()),
        ask: z.exactOptional(toolGlobs()),
        deny: z.exactOptional(toolGlobs()),
      }),
    ),
    transport: z.exactOptional(z.enum(['http', 'sse'])),
    disabled: z.exactOptional(z.boolean()),
    share: z.exactOptional(z.boolean()),
    required: z.exactOptional(z.boolean()),
    start: z.exactOptional(z.enum(['eager', 'lazy'])),
    idle_timeout_ms: z.exactOptional(milliseconds()),
    startup_timeout_ms: z.exactOptional(milliseconds()),
    timeout_ms: z.exactOptional(milliseconds()),
    output_limit: z.exactOptional(wholeNumber(1)),
    taint_scanning: z.exactOptional(z.boolean()),
    taint_policy: z.exactOptional(z.enum(['block', 'warn', 'off'])),
    origin: z.exactOptional(z.looseObject({ canonical: z.exactOptional(z.record(z.string(), z.string())) })),
  }).check(tableCheck(findKindConflict)),
)

/** Whether a value is a valid name of a server. */
export function isServerName(name: unknown): name is string {
  return typeof name === 'string' && SERVER_NAME.test(name)
}

/** Yields server names whose tools would have the same names: they are equal once `-` is replaced with `_`. */
export function* findNameClashes(entries: unknown): Generator<TableIssue> {
  const owners = new Map<string, number>()
  for (const [i, entry] of (Array.isArray(entries) ? entries : []).entries()) {
    const name = isTable(entry) ? entry['name'] : undefined
    if (typeof name !== 'string') continue
    const folded = name.replaceAll('-', '_')
    const owner = owners.get(folded)
    if (owner === undefined) owners.set(folded, i)
    else yield { path: ['mcps', i, 'name'], predicate: `is taken by mcps[${owner}]` }
  }
}

function* findKindConflict(entry: Record<string, unknown>, isMisspelt: boolean): Generator<TableIssue> {
  const isProgram = Object.hasOwn(entry, 'command')
  const isRemote = Object.hasOwn(entry, 'url')
  if (isProgram && isRemote) {
    yield { path: ['url'], predicate: 'is for remote servers, and this entry has "command", a program' }
    return
  }
  if (!isProgram && !isRemote) {
    if (!isMisspelt) yield { path: [], predicate: 'needs "command" (a program) or "url" (a remote server)' }
    return
  }
  const [own, foreign, kind] = isProgram
    ? ['command', REMOTE_KEYS, 'remote servers']
    : ['url', STDIO_KEYS, 'programs']
  for (const key of foreign) {
    if (Object.hasOwn(entry, key)) {
      yield { path: [key], predicate: `is for ${kind}, and this entry has "${own}"` }
    }
  }
}

function text(): z.ZodMiniString {
  return z.string().check(z.regex(/^[^\0]*$/, 'must not hold a NUL character'))
}

function filledText(): z.ZodMiniString {
  return text().check(z.minLength(1))
}

function names(): z.ZodMiniArray<z.ZodMiniString> {
  return z.array(filledText())
}

/** The schema of a program that prints credentials for the server. */
function helper(key: HelperKey): z.ZodMiniArray<z.ZodMiniString> {
  const isAllowed = (words: readonly string[]) => isServerHelper(key, words)
  return names().check(z.minLength(1), z.refine(isAllowed, describeServerHelpers(key)))
}

/** The schema of the globs that entryRules() converts to rules. */
function toolGlobs(): z.ZodMiniArray<z.ZodMiniString> {
  const rule =
    /^[ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]*(?!\s)[ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]$/u
  return z.array(
    z.string().check(z.regex(rule, 'must be names without control characters or a space at the end')),
  )
}

function line(): z.ZodMiniString {
  return z.string().check(z.regex(/^[^\0\r\n]*$/, 'must be a single line'))
}

function headerName(): z.ZodMiniString {
  return z.string().check(z.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a possible header name'))
}
