import { ERROR_KINDS, type ErrorKind } from '../../src/core/base/errors.ts'
import { code, table } from './sections.ts'

/** Renders every kind of failure: its `error.code`, its exit code, and whether a retry can help. */
export function errorsSection(): string {
  const rows = (Object.keys(ERROR_KINDS) as ErrorKind[]).map((kind) => {
    const { exit, retryable } = ERROR_KINDS[kind]
    return [String(exit), code(kind), MEANINGS[kind], retryable ? 'yes' : '']
  })
  const sorted = rows.toSorted((a, b) => Number(a[0]) - Number(b[0]))
  return table(['exit', '`error.code`', 'means', 'retry helps'], sorted)
}

const MEANINGS: Record<ErrorKind, string> = {
  usage: 'the command line is wrong',
  invalid: 'the input is invalid: not UTF-8 text, too large, not a JSON object',
  'no-input': 'there is nothing to read, or it cannot be read',
  config: 'a configuration file has an error, or names something that does not exist',
  denied: 'something needed permission, and no one could be asked',
  credentials: 'a key is missing or wrong',
  missing: 'something that you named does not exist',
  'no-service': 'no service has that name',
  conflict: 'something is taken, in use, or ambiguous',
  gone: 'something existed, but does not any more',
  throttled: 'a rate limit: try later',
  failed: 'something failed',
  storage: 'a file cannot be read or written',
  refused: 'the model refused',
  tool: 'a tool failed (with `--fail-on-tool-error`, or in `mcp call`)',
  schema: 'the answer does not meet `--schema`, even after one repair',
  truncated: 'the answer was cut at the output limit of the model',
  limit: '`--max-turns` or `--max-cost` was reached',
  empty: 'the answer is empty',
  cancelled: 'the run was interrupted',
  internal: 'a bug in crabtalk: please report it',
  unavailable: 'the model or a server cannot be reached',
  timeout: 'something took too long',
}
