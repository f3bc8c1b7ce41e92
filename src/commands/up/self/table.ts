import type { Command } from '../../command.ts'

export const SELF_COMMANDS: readonly Command[] = []
