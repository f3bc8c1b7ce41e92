import { PRESETS } from '../../src/core/provider/presets.ts'
import { code, table } from './sections.ts'

/** The providers whose keys are looked for, in that order. */
export function providersSection(): string {
  const rows = PRESETS.map(({ name, keys, addresses, defaultModel }) => [
    code(name),
    keys.map(code).join(' or '),
    defaultModel === undefined ? 'your own' : code(defaultModel),
    (addresses ?? [`${name.toUpperCase()}_BASE_URL`]).map(code).join(' or '),
  ])
  return table(['provider', 'its key', 'default model', 'another address'], rows)
}
