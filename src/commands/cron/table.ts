import type { Command } from '../command.ts'

export const CRON_COMMANDS: readonly Command[] = []
