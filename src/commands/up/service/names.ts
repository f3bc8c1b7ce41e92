import { type Service, servicesOf } from '../../../up/service-spec.ts'
import type { Host } from '../../host.ts'
import { pathsOf } from '../../paths.ts'

/** The services there are; of a home that cannot be told, those inside this program. */
export async function serviceNames(host: Host): Promise<Pick<Service, 'name' | 'description'>[]> {
  return servicesOf(homeOf(host))
}

function homeOf(host: Host): { packages: string } {
  try {
    return pathsOf(host)
  } catch {
    return { packages: '' } // the command that is meant says what is wrong with it
  }
}
