import type { Channel } from '../../core/policy/trust.ts'
import type { Services } from '../services.ts'

/** One node's services, and the way a message came to them. */
export interface RequestContext {
  services: Services
  channel: Channel
  /** `fixed`: messages of clients that use no addition to the fixed protocol, and see no added event. */
  client?: 'fixed' | undefined
}
