import type { CommandHandler } from '../../../cli/command.ts'
import { DOCTOR_CHECKS, runChecks } from '../../doctor/doctor.ts'
import { checkComponents } from './components.ts'
import { checkServiceEnvironment } from './environment.ts'
import { checkLogs } from './logs.ts'
import { checkServicePaths } from './paths.ts'
import { checkServices } from './services.ts'
import { checkSystem } from './system.ts'

/** `crabup doctor`: the checks of `crabtalk doctor`, and those of the services. */
export const crabupDoctorCommand: CommandHandler = async (invocation) => {
  return await runChecks(invocation, [
    ...DOCTOR_CHECKS,
    ['services', checkServices],
    ['service environment', checkServiceEnvironment],
    ['service PATH', checkServicePaths],
    ['logs', checkLogs],
    ['components', checkComponents],
    ['system', checkSystem],
  ])
}
