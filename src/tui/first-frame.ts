import { toSections } from './components/sections.ts'
import type { ChatOptions, ChatPorts } from './ports.ts'
import type { ChatStore } from './state/store.ts'
import type { Screen } from './terminal/screen.ts'
import { fitSections } from './view/section.ts'
import type { RenderContext } from './view/view.ts'

/** Draws the welcome and the prompt, exactly as the components draw them afterwards. */
export function drawFirstFrame(
  { store, screen }: { store: ChatStore; screen: Screen },
  options: ChatOptions,
  ports: Pick<ChatPorts, 'shownCwd' | 'abbreviate' | 'now'>,
): void {
  const { columns, rows } = screen.size
  const view: RenderContext = { color: options.color, columns, rows, details: false }
  const context = { isBusy: false, columns }
  const sections = toSections(store.get(), { view, location: ports, context, now: ports.now() })
  screen.drawFirst(fitSections(sections, rows - 1))
}
