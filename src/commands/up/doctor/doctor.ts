import type { Run } from '../../command.ts'
import { DOCTOR_CHECKS, examine } from '../../doctor/doctor.ts'
import { checkComponents } from './components.ts'
import { checkServiceEnvironment } from './environment.ts'
import { checkLogs } from './logs.ts'
import { checkServicePaths } from './paths.ts'
import { checkServices } from './services.ts'
import { checkSystem } from './system.ts'

/** `crabup doctor`: what `crabtalk doctor` looks at, and the services. */
export const doctor: Run = async (invocation) => {
  return await examine(invocation, [
    ...DOCTOR_CHECKS,
    ['services', checkServices],
    ['service environment', checkServiceEnvironment],
    ['service PATH', checkServicePaths],
    ['logs', checkLogs],
    ['components', checkComponents],
    ['system', checkSystem],
  ])
}
