import { listServices, type Service } from '../../../up/service-spec.ts'
import type { Host } from '../../host.ts'
import { resolvePaths } from '../../paths.ts'

/** The services there are; of a home that cannot be told, those inside this program. */
export async function serviceNames(host: Host): Promise<Pick<Service, 'name' | 'description'>[]> {
  return listServices(findPackages(host))
}

function findPackages(host: Host): { packages: string } {
  try {
    return resolvePaths(host)
  } catch {
    return { packages: '' } // the command that is meant says what is wrong with it
  }
}
