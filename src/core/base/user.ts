import { homedir, userInfo } from 'node:os'

/** The user's own directory; empty when the system knows none, as for a user id without an account. */
export function userDirectory(): string {
  try {
    return homedir()
  } catch {
    return '' // callers report a missing directory
  }
}

/** The name of this process's user; undefined for a user id without an account. */
export function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
