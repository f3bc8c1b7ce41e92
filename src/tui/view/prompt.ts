import type { Prompt, PromptContext } from '../text/prompt.ts'
import type { Section } from './section.ts'
import type { View } from './view.ts'

/** The prompt with its caret, and the menu that is open over or under it. */
export function renderPrompt(prompt: Prompt, _context: PromptContext, _view: View): Section {
  return { lines: [`> ${prompt.text}`], caret: { x: 2 + prompt.caret, y: 0 }, cut: 'head', rank: 9 }
}
