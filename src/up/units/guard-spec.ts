import { dirname, join } from 'node:path'
import { toGuardLabel } from '../names.ts'
import type { ManagerCommand, ServiceSpec } from '../types.ts'

/**
 * Builds the spec of the guard that a service manager runs for a home; `program` starts this program. The
 * result is the same for every service of the home. The guard receives none of the services' keys: its
 * environment file does not exist.
 */
export function guardSpec({ grant: _, ...spec }: ServiceSpec, program: ManagerCommand): ServiceSpec {
  const home = spec.env['CRABTALK_HOME'] ?? spec.cwd
  return {
    ...spec,
    envFile: join(home, 'run', 'env', 'crabtalk-guard.env'),
    name: 'guard',
    label: toGuardLabel(spec.label),
    description: 'Restarts services that hang, and bounds what they print',
    argv: [...program, 'supervise', '--guard', '--home', home],
    output: join(dirname(spec.output), 'guard.crash.log'),
  }
}
