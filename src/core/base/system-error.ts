/** Returns the code of a failed system call, such as `ENOENT`; empty for anything else. */
export function getErrorCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? reason.code : ''
}

/** Whether a system call failed because a path does not exist, or because a part of the path is a file. */
export function isMissing(reason: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(getErrorCode(reason))
}
