import { PRESETS } from '../../src/core/provider/presets.ts'
import { code, table } from './sections.ts'

/** Renders the providers in the order in which their keys are looked up. */
export function providersSection(): string {
  const unknown = Object.keys(COMPANIONS).filter((name) => !PRESETS.some((preset) => preset.name === name))
  if (unknown.length > 0)
    throw new Error(`Cannot describe providers: there is none called ${unknown.join(', ')}`)
  const rows = PRESETS.map(({ name, keys, addresses, defaultModel, modelKeys = [] }) => [
    code(name),
    either(keys),
    defaultModel === undefined ? `your own: ${either(modelKeys)}` : code(defaultModel),
    either(addresses ?? [`${name.toUpperCase()}_BASE_URL`]),
    COMPANIONS[name] ?? '',
  ])
  return table(['provider', 'key', 'default model', 'another address', 'together with'], rows)
}

function either(names: readonly string[]): string {
  return names.map(code).join(' or ')
}

/** Further variables that belong to a key and have no column of their own. */
const COMPANIONS: Readonly<Record<string, string>> = {
  bedrock:
    '`AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` of an `AWS_ACCESS_KEY_ID`; `AWS_REGION` or `AWS_DEFAULT_REGION`',
  azure: '`AZURE_RESOURCE_NAME` instead of an address',
}
