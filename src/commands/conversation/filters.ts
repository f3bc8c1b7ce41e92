import { resolve } from 'node:path'
import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'

/** Reads the options that filter conversations; an empty value matches everything. */
export function readFilters(
  options: ParsedOptions,
  host: Pick<Host, 'cwd'>,
): { agent: string; sender: string; cwd: string } {
  const cwd = options.value('cwd')
  if (cwd !== undefined && options.has('here')) {
    throw new CrabError('usage', 'Cannot combine --cwd and --here', { hint: 'give only one of them' })
  }
  const folder = options.has('here') ? '.' : cwd
  return {
    agent: options.value('agent') ?? '',
    sender: options.value('sender') ?? '',
    cwd: folder === undefined ? '' : resolve(host.cwd(), folder),
  }
}
