import type { Block } from '../view/blocks.ts'
import type { ChatState } from './types.ts'

/** Returns the welcome with what is known by now; undefined when it has been printed. */
export function toWelcome({ welcome, agent, model, models, branch = '' }: ChatState): Block | undefined {
  if (!welcome) return undefined
  const { cwd, version } = welcome
  const program = models.find(({ name }) => name === model)?.foundProgram ?? ''
  return {
    kind: 'welcome',
    agent,
    model: program === '' ? model : `${model} on ${program} (found on this machine)`,
    cwd: branch === '' ? cwd : `${cwd} (${branch})`,
    version,
    hint: HINT,
  }
}

const HINT = '/help for commands, Ctrl+C twice to leave'
