import type { Run } from '../command.ts'
export const doctor: Run = async () => 0
