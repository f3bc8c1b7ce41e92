import type { OpenService } from './open-service.ts'

/** What is to be known before the daemon of a home starts for the first time; nothing yet. */
export async function firstRun(_at: OpenService, _signal: AbortSignal): Promise<void> {}
