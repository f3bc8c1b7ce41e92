import { newPicker } from '../overlays/picker.ts'
import type { ModeName } from '../ports.ts'
import { chooseMode, describeMode } from '../state/modes.ts'
import { hint, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/approvals [MODE]`: chooses what runs without asking. Only /yolo allows everything. */
export function slashApprovals(args: string, context: SlashContext): void {
  const named = MODES.find((mode) => mode === args.trim())
  if (named !== undefined) onModeChosen(named, context)
  else if (args === '') showOverlay(context, modePicker(context.state().mode))
  else
    printNotice(
      context,
      'warning',
      `Unknown mode ${args}`,
      `choose one of ${MODES.join(', ')}; /yolo allows everything`,
    )
}

/** Carries out the choice of /approvals. */
export function onModeChosen(value: string, context: SlashContext): void {
  const mode = MODES.find((one) => one === value)
  if (mode === undefined) return
  context.act({ type: 'set', change: chooseMode(mode) })
  hint(context, describeMode(mode))
}

/** `/yolo`: allows everything that no rule denies, after a confirmation. */
export function confirmYolo(context: SlashContext): void {
  if (context.state().mode === 'all') {
    hint(context, 'Everything is already allowed; Shift+Tab ends it')
    return
  }
  const items = [
    { value: 'no', label: 'No', detail: 'ask as before' },
    { value: 'yes', label: 'Yes', detail: 'run every command and change every file without asking' },
  ]
  showOverlay(context, newPicker({ picker: 'yolo', title: 'Allow everything that no rule denies?', items }))
}

/** Carries out the choice of /yolo. */
export function onYoloChosen(value: string, context: SlashContext): void {
  if (value !== 'yes') return
  context.act({ type: 'set', change: chooseMode('all') })
  printNotice(context, 'warning', 'Everything that no rule denies is allowed', 'Shift+Tab ends it')
}

const MODES: readonly ModeName[] = ['ask', 'edits', 'plan', 'read-only']

function modePicker(current: ModeName) {
  const items = MODES.map((mode) => ({
    value: mode,
    label: mode,
    detail: describeMode(mode),
    isCurrent: mode === current,
  }))
  return newPicker({ picker: 'approvals', title: 'Approval mode', items })
}
