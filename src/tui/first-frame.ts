import { toSections } from './components/sections.ts'
import type { ChatOptions, ChatPorts } from './ports.ts'
import type { ChatStore } from './state/store.ts'
import type { Screen } from './terminal/screen.ts'
import { renderBlock } from './view/block.ts'
import type { Block } from './view/blocks.ts'
import { fitSections } from './view/section.ts'
import type { RenderContext } from './view/view.ts'

/** Prints the welcome and draws the prompt, exactly as the components draw them afterwards. */
export function drawFirstFrame(
  { store, screen }: { store: ChatStore; screen: Screen },
  options: ChatOptions,
  ports: Pick<ChatPorts, 'shownCwd' | 'now'>,
): void {
  const { columns, rows } = screen.size
  const view: RenderContext = { color: options.color, columns, rows, details: false }
  const context = { isBusy: false, columns }
  const sections = toSections(store.get(), { view, location: ports, context, now: ports.now() })
  const text = renderBlock(welcome(options, ports.shownCwd), view)
  screen.drawFirst(text.map((line) => `${line}\n`).join(''), fitSections(sections, rows - 1))
}

function welcome({ agent, model = '', version }: ChatOptions, cwd: string): Block {
  return { kind: 'welcome', agent, model, cwd, version, hint: '/help for commands, Ctrl+C twice to leave' }
}
