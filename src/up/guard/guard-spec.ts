import { dirname, join } from 'node:path'
import { toGuardLabel } from '../names.ts'
import type { ManagerCommand, ServiceSpec } from '../types.ts'

/**
 * The guard of the home of a service, as a service manager runs it; `program` starts this program. It is the same whichever
 * service it is made from, and it gets none of the keys of services: its file of variables does not exist.
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
