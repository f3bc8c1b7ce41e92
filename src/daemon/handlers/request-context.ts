import type { Channel } from '../../core/policy/trust.ts'
import type { Services } from '../services.ts'

/** The services of a node, and the channel on which a message arrived. */
export interface RequestContext {
  services: Services
  channel: Channel
  /** `fixed`: the client uses no addition to the fixed protocol, and receives no added events. */
  client?: 'fixed' | undefined
}
