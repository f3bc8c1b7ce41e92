import { once } from '../../core/base/once.ts'
import type { SlashContext } from '../slash/types.ts'
import type { Commands } from './controller.ts'

/** The slash commands, loaded when the first frame stands: what is typed before finds an empty menu. */
export function loadCommands(context: SlashContext): Commands & { load(): void } {
  const table = once(() => import('../slash/commands.ts'))
  const runner = once(() => import('../slash/run.ts'))
  let list: Commands['list'] = []
  return {
    get list() {
      return list
    },
    load() {
      void table.get().then(({ SLASH_COMMANDS }) => {
        list = SLASH_COMMANDS
      })
    },
    run: async (line, signal) => (await runner.get()).runSlash(line, context, signal),
    chosen: async (effect, signal) => (await runner.get()).onChosen(effect, context, signal),
  }
}
