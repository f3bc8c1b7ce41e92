import { buildInitTask } from '../../core/base/task-texts.ts'
import { newPicker } from '../overlays/picker.ts'
import { showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/init`: the agent writes an AGENTS.md from a look at the repository; an existing one is only improved, after a question. */
export async function initInstructions(_args: string, context: SlashContext): Promise<void> {
  const existing = await findInstructions(context)
  const own = existing.find((name) => OWN_NAMES.has(name))
  if (own === undefined) return sendTask(context, buildInitTask({ replaces: existing }))
  const items = [
    { value: own, label: 'Improve it', detail: 'the agent compares it with the repository and edits it' },
    { value: '', label: 'Leave it as it is', detail: '' },
  ]
  showOverlay(context, newPicker({ picker: 'init', title: `${own} exists`, items }))
}

/** Carries out the choice of `/init`: `name` is the file to improve; empty for none. */
export function onInitChosen(name: string, context: SlashContext): void {
  if (name !== '') sendTask(context, buildInitTask({ improves: name, replaces: [] }))
}

/** Returns the instruction files in the working directory, the one that is read first. */
async function findInstructions({ ports }: SlashContext): Promise<string[]> {
  const found = await Promise.all(NAMES.map((name) => ports.hasFile(name)))
  return NAMES.filter((_, at) => found[at])
}

const NAMES = ['Crab.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const
/** Files that take precedence over a new AGENTS.md, or are one. */
const OWN_NAMES: ReadonlySet<string> = new Set(['Crab.md', 'AGENTS.md'])

function sendTask(context: SlashContext, content: string): void {
  context.send('/init', { content, attachments: [], problems: [] })
}
