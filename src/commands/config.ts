import { basename } from 'node:path'
import type { CommandHandler } from '../cli/command.ts'
import type { Host } from '../cli/host.ts'
import { resolvePaths } from '../cli/paths.ts'
import { printJson } from '../cli/print.ts'
import { ERROR_KINDS } from '../core/base/errors.ts'
import { pluralize } from '../core/base/format.ts'
import { sanitize } from '../core/base/sanitize.ts'
import { REDACTED, redactWords } from '../core/base/secrets/redact.ts'
import { readAgentFiles } from '../core/config/agent-files.ts'
import { findProblems, findWarnings } from '../core/config/find-problems.ts'
import { loadConfig, readTextFile } from '../core/config/load-config.ts'
import type { PermissionRule } from '../core/config/permissions.ts'
import { parseToml } from '../core/config/toml.ts'
import { renderToml } from '../core/config/toml-render.ts'
import { readChatSettings } from '../core/config/tui-schema.ts'
import { type FileIssue, formatLocation } from '../core/config/validation-issue.ts'
import { findCronProblems } from '../core/cron/cron-file.ts'
import { findWide } from '../core/policy/wide-rules.ts'
import { findIdlePatterns } from '../mcp/entry-facts.ts'
import { locateKeyIssues } from './config/key-issues.ts'
import { findServerFileProblems } from './config/server-files.ts'
import { findUnusableServers } from './config/unusable-servers.ts'
import { readKnownServers } from './mcp/servers.ts'
import { collectWrittenRules, findIdleRulesHere } from './written-rules.ts'

/** Runs `crabtalk config path`. */
export const configPathCommand: CommandHandler = async ({ host }) => {
  host.stdout.write(`${resolvePaths(host).config}\n`)
  return 0
}

/** Runs `crabtalk config show`; secrets are redacted. */
export const showConfigCommand: CommandHandler = async ({ options, host }) => {
  const { providers, defaultModel, skillDirs, env, daemon } = await loadConfig(resolvePaths(host))
  const shown = {
    model: defaultModel ?? null,
    providers: providers.map(({ apiKey, keyHelper, baseUrl, models, ...provider }) => ({
      ...inFileSpelling(provider),
      base_url: baseUrl && redactWords([baseUrl])[0],
      api_key: apiKey && REDACTED,
      key_helper: keyHelper && redactWords(keyHelper),
      models: models?.map(inFileSpelling),
    })),
    skills: { dirs: skillDirs },
    env: Object.fromEntries(Object.keys(env).map((name) => [name, REDACTED])),
    daemon: inFileSpelling(daemon),
  }
  if (options.has('json')) return printJson(host, shown)
  const written = shown.providers.map((provider) => ({ ...provider, where: undefined })) // not a key of config.toml
  host.stdout.write(sanitize(renderToml({ ...shown, providers: written })))
  return 0
}

/** Runs `crabtalk config check`; warnings do not affect the exit code. */
export const checkConfigCommand: CommandHandler = async ({ options, host, signal }) => {
  const paths = resolvePaths(host)
  const servers = await findUnusableServers(paths)
  const problems = [
    ...(await findProblems(paths)),
    ...servers,
    ...(await findServerFileProblems(host)),
    ...(await findCronProblems(paths.crons)),
  ]
  const patterns = problems.length > 0 ? [] : await findPatternWarnings(host, signal)
  const warnings = [...(await findConfigWarnings(host)), ...patterns]
  if (options.has('json')) {
    printJson(host, [
      ...problems.map((issue) => ({ severity: 'error', ...issue })),
      ...warnings.map((issue) => ({ severity: 'warning', ...issue })),
    ])
  } else {
    host.stdout.write(sanitize(problems.map(toLine).join('')) || formatSummary(warnings.length))
    host.stderr.write(sanitize(warnings.map((warning) => `warning: ${toLine(warning)}`).join('')))
  }
  return problems.length > 0 ? ERROR_KINDS.config.exit : 0
}

function formatSummary(warnings: number): string {
  return warnings === 0 ? 'no problems\n' : `no problems, ${pluralize(warnings, 'warning')}\n`
}

/** A problem or a warning, and the line it is about. */
type CheckResult = Pick<FileIssue, 'file' | 'line' | 'message' | 'hint'> & {
  column?: number | undefined
  key?: string
}

/** Finds settings that are valid but certainly not intended. */
async function findConfigWarnings(host: Host): Promise<CheckResult[]> {
  const paths = resolvePaths(host)
  const unfilled = await findWarnings(paths)
  const wide = (await collectWrittenRules(paths)).flatMap(findWideRule)
  const idle = await findIdleRulesHere(paths, host)
  return [...unfilled, ...(await findKeyWarnings(host)), ...[...wide, ...idle].map(toResult)]
}

/** Finds patterns of servers that match none of the tools they listed when they last ran. */
async function findPatternWarnings(host: Host, signal: AbortSignal): Promise<CheckResult[]> {
  const files = await readAgentFiles(resolvePaths(host).agents)
  const hasServers = files.some(({ document }) => document.ok && document.value.table['mcps'] !== undefined)
  if (!hasServers) return []
  const servers = await readKnownServers(host, signal)
  return servers.flatMap((server) => {
    return findIdlePatterns(server).map((idle) => toResult({ source: server.source, ...idle }))
  })
}

/** Finds unknown names and conflicts among the keys of the chat. An invalid file has been reported already. */
async function findKeyWarnings(host: Host): Promise<CheckResult[]> {
  const { config } = resolvePaths(host)
  const document = parseToml(basename(config), (await readTextFile(config)) ?? '')
  const settings = document.ok ? readChatSettings(document.value) : document
  return document.ok && settings.ok ? locateKeyIssues(document.value, settings.value) : []
}

function findWideRule(rule: PermissionRule): RuleWarning[] {
  const wide = findWide(rule)
  if (wide === undefined) return []
  const { source, pattern } = rule
  return [{ source, message: `allow ${pattern} permits ${wide.permits} without asking`, hint: wide.instead }]
}

/** A warning about a rule; `source` is the file and its line, such as `config.toml:8`. */
interface RuleWarning {
  source: string
  message: string
  hint: string
}

function toResult({ source, message, hint }: RuleWarning): CheckResult {
  const [, file = source, line = '1'] = /^(.*):(\d+)$/.exec(source) ?? []
  return { file, line: Number(line), message, hint }
}

function toLine({ column, message, hint, ...place }: CheckResult): string {
  return `${formatLocation({ ...place, column })}: ${message}${hint ? `\n  hint: ${hint}` : ''}\n`
}

/** Converts keys to the spelling of config.toml, so that the output can be written there. */
function inFileSpelling(table: object): Record<string, unknown> {
  const toSnake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [toSnake(key), value]))
}
