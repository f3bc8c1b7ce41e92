import { homedir, userInfo } from 'node:os'

/**
 * Returns the user's home directory; empty when the system does not know one, as for a user id without an
 * account.
 */
export function userDirectory(): string {
  try {
    return homedir()
  } catch {
    return '' // callers report a missing directory
  }
}

/** Returns the name of this process's user; undefined for a user id without an account. */
export function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
