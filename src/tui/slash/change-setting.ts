import { toSettingsChange } from '../state/settings.ts'
import type { SlashContext } from './types.ts'

/** Writes a setting and applies it. Undefined resets it to its default. */
export async function changeSetting(
  path: readonly string[],
  value: unknown,
  { ports, state, act }: Pick<SlashContext, 'ports' | 'state' | 'act'>,
  signal: AbortSignal,
): Promise<void> {
  await ports.settings.write(path, value, signal)
  const { settings } = await ports.settings.read()
  const change = settings && toSettingsChange(state(), settings)
  if (change) act({ type: 'set', change })
}
