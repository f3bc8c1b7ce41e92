import { CrabError } from '../../core/base/errors.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { validateHeaders } from '../remote/header-rules.ts'

/** Returns why a server can never be started; undefined when it can be tried. */
export function validateTarget(target: ServerTarget): CrabError | undefined {
  const issue = target.transport === 'stdio' ? undefined : validateHeaders(target)
  return issue === undefined
    ? undefined
    : new CrabError('config', issue, { hint: 'crabtalk mcp set changes an entry' })
}
