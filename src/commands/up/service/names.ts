import type { Host } from '../../../cli/host.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { listServices, type Service } from '../../../up/services/service-spec.ts'

/** Lists the services; only the built-in ones when the home cannot be resolved. */
export async function serviceNames(host: Host): Promise<Pick<Service, 'name' | 'description'>[]> {
  return listServices(findPackages(host))
}

function findPackages(host: Host): { packages: string } {
  try {
    return resolvePaths(host)
  } catch {
    return { packages: '' } // the command itself reports the error
  }
}
