import { sha256 } from '../../core/base/sha256.ts'

/** Returns the name of a provider's key in the vault. A name with other characters is replaced by its hash. */
export function toProviderKeyName(provider: string): string {
  if (/^[\w.:/-]{1,180}$/.test(provider)) return `provider:${provider}`
  return `provider:@${sha256(provider).toString('hex').slice(0, 16)}`
}
