import type { Command } from '../../command.ts'

export const SERVICE_COMMANDS: readonly Command[] = []
