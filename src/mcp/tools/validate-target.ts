import { CrabError } from '../../core/base/errors.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { validateHeaders } from '../remote/header-rules.ts'

/** Why a server is not even tried; undefined when nothing speaks against it. */
export function validateTarget(target: ServerTarget): CrabError | undefined {
  const flaw = target.transport === 'stdio' ? undefined : validateHeaders(target)
  return flaw === undefined
    ? undefined
    : new CrabError('config', flaw, { hint: 'crabtalk mcp set changes an entry' })
}
