import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { REDACTED, redactWords } from '../../core/base/secrets/redact.ts'
import { configTable } from '../../core/config/config-schema.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { checkValue, isTable } from '../../core/config/schema.ts'
import { parseToml } from '../../core/config/toml.ts'
import { renderToml, renderValue } from '../../core/config/toml-render.ts'
import { configError } from '../../core/config/validation-issue.ts'
import { getConfigValue, parseConfigKey } from './keys.ts'

/** Runs `crabtalk config get`. */
export const getConfigCommand: CommandHandler = async ({ options, host }) => {
  const [key = ''] = options.args
  const path = parseConfigKey(key)
  const document = parseToml('config.toml', (await readTextFile(resolvePaths(host).config)) ?? '')
  if (!document.ok) throw configError(document.problems)
  const { table } = document.value
  const checked = checkValue(configTable, table)
  const value = getConfigValue(checked.ok ? { ...checked.value } : table, path)
  if (value === undefined) throw notSet(key)
  const shown = hideSecrets(value, path)
  if (options.has('json')) return printJson(host, shown)
  const text = isTable(shown)
    ? renderToml(shown)
    : `${typeof shown === 'string' ? shown : renderValue(shown)}\n`
  host.stdout.write(sanitize(text))
  return 0
}

function notSet(key: string): CrabError {
  return new CrabError('missing', `Cannot get ${key}: config.toml does not set it, and it has no default`, {
    hint: 'docs/configuration.md lists all keys; crabtalk config show prints what is in use',
  })
}

/** Hides the values of keys that hold secrets. */
function hideSecrets(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => hideSecrets(one, path))
  if (isTable(value)) {
    const hidden = Object.entries(value).map(([key, inner]) => [key, hideSecrets(inner, [...path, key])])
    return Object.fromEntries(hidden) as JsonObject
  }
  const isSecret = path.at(-1) === 'api_key' || path[0] === 'env'
  if (isSecret) return REDACTED
  return typeof value === 'string' ? redactWords([value])[0] : value
}
