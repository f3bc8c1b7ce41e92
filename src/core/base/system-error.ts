/** The code of a failed system call, such as `ENOENT`; empty for anything else. */
export function getErrorCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? reason.code : ''
}

/** Returns whether a system call failed because there is nothing at a path, also where a part of the path is a file. */
export function isMissing(reason: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(getErrorCode(reason))
}
