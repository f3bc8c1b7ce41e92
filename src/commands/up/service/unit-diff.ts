import { confirm, declinedError } from '../../../cli/ask/confirm.ts'
import { colorize, wantsColor } from '../../../cli/color.ts'
import type { ParsedOptions } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { toVisible } from '../../../core/base/visible.ts'
import { findUnitChange, type OpenService } from '../../../up/services/open-service.ts'
import type { ServiceSpec } from '../../../up/types.ts'

/**
 * Shows the manual changes to a unit that are about to be replaced, and asks at a terminal for confirmation;
 * otherwise it prints where the edited unit is kept. Returns whether the unit will be written. Throws
 * `denied` when the user says no.
 */
export async function showEdits(
  handle: OpenService<Host>,
  spec: ServiceSpec,
  { options }: { options: ParsedOptions },
  signal: AbortSignal,
): Promise<boolean> {
  const change = await findUnitChange(handle, spec)
  if (!change) return false
  const { path, kind, before, after } = change
  if (kind !== 'edited') return kind === 'outdated'
  const { host, service } = handle
  const advice = `put your changes into a drop-in or ${spec.envFile}; the edited unit is kept as ${path}.edited`
  host.stderr.write(
    `crabup: ${path} was edited; rewriting it loses these changes:\n${await renderPatch(host, before, after)}crabup: ${advice}\n`,
  )
  await host.stderr.flush()
  const may = await confirm('Rewrite it?', { options, host }, signal)
  if (may === false) throw declinedError(`write the unit of ${service.name}`)
  return true
}

/** Renders the change from the existing unit to the new one as a diff without file names. */
async function renderPatch(host: Host, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  const color = wantsColor('auto', host.env, host.stderr)
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 2 }).trimEnd()
  const lines = patch.slice(patch.indexOf('@@')).split('\n')
  return lines.map((line) => `  ${tint(toVisible(line), color)}\n`).join('')
}

function tint(line: string, color: boolean): string {
  if (line.startsWith('+')) return colorize(line, 'green', color)
  return line.startsWith('-') ? colorize(line, 'red', color) : line
}
