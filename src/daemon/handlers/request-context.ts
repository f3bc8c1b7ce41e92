import type { Channel } from '../../core/policy/trust.ts'
import type { Services } from '../services.ts'

/** The services that a handler needs, and the channel on which its message arrived. */
export interface RequestContext<Needs extends keyof Services = keyof Services> {
  services: Pick<Services, Needs>
  channel: Channel
  /** `fixed`: the client uses no addition to the fixed protocol, and receives no added events. */
  client?: 'fixed' | undefined
}
