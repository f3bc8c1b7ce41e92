import type { Host } from '../../cli/host.ts'
import type { SetupArea } from '../../tui/ports.ts'
import { collectFindings, DOCTOR_CHECKS } from '../doctor/doctor.ts'

/** Runs the checks of `crabtalk doctor` for a chat, with `--fix` or `--deep` if that is asked for. */
export async function checkSetup(
  host: Host,
  { fix, deep }: { fix: boolean; deep: boolean },
  signal: AbortSignal,
): Promise<readonly SetupArea[]> {
  const areas = await collectFindings({ host, checks: DOCTOR_CHECKS, deep, fix }, signal)
  return areas.map(({ area, found }) => ({
    area,
    findings: found.map(({ status, message, hint, fix: change }) => ({
      ...{ status, message, hint },
      isFixable: change !== undefined,
    })),
  }))
}
