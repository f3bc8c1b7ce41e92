import { dirname, join } from 'node:path'
import { guardLabelOf } from '../names.ts'
import type { ManagerCommand, ServiceSpec } from '../types.ts'

/** The guard of the home of a service, as a service manager runs it; `program` starts this program. */
export function guardSpec(spec: ServiceSpec, program: ManagerCommand): ServiceSpec {
  const home = spec.env['CRABTALK_HOME'] ?? spec.cwd
  return {
    ...spec,
    name: 'guard',
    label: guardLabelOf(spec.label),
    description: 'Restarts services that hang, and bounds what they print',
    argv: [...program, 'supervise', '--guard', '--home', home],
    output: join(dirname(spec.output), 'guard.crash.log'),
  }
}
