import type { Host } from '../../cli/host.ts'
import type { SetupArea } from '../../tui/ports.ts'
import { collectFindings, DOCTOR_CHECKS } from '../doctor/doctor.ts'

/** Runs the checks of `crabtalk doctor` for a chat, and applies the fixes if that is asked for. */
export async function checkSetup(
  host: Host,
  { fix }: { fix: boolean },
  signal: AbortSignal,
): Promise<readonly SetupArea[]> {
  const areas = await collectFindings({ host, checks: DOCTOR_CHECKS, deep: false, fix }, signal)
  return areas.map(({ area, found }) => ({
    area,
    findings: found.map(({ status, message, hint, fix: change }) => ({
      ...{ status, message, hint },
      isFixable: change !== undefined,
    })),
  }))
}
