import type { Command } from '../../command.ts'

export const PACKAGE_COMMANDS: readonly Command[] = []
