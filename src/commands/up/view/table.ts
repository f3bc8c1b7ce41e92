import type { Command } from '../../command.ts'

export const VIEW_COMMANDS: readonly Command[] = []
