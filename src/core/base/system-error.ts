/** The code of a failed system call, such as `ENOENT`; empty for anything else. */
export function codeOf(reason: unknown): string {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? reason.code : ''
}
