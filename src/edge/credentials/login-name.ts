import { sha256 } from '../../core/base/sha256.ts'

/** Returns the address that a login belongs to: that of the server without user, query and fragment. */
export function toLoginUrl(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** Returns the name of a login in the vault. An address with other characters is shortened to its hash. */
export function toLoginName(url: string): string {
  const name = `oauth:${url}`
  if (/^[\w.:/@-]{1,200}$/.test(name)) return name
  return `oauth:${new URL(url).origin.slice(0, 150)}/@${sha256(url).toString('hex').slice(0, 16)}`
}
