import { STATUS_PARTS, type StatusPartName } from '../../core/base/chat-settings.ts'
import type { Panel } from '../overlays/types.ts'
import { changeSetting } from './change-setting.ts'
import { showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** Opens the panel of the parts of the status line: those that are shown first, in their order. */
export function showStatusParts(context: SlashContext, selected?: string): void {
  const { status } = context.state().settings
  const names = listParts(status)
  const panel: Panel = {
    kind: 'panel',
    picker: 'status-parts',
    title: 'Status line: the parts from left to right',
    header: ['PART', 'SHOWN'],
    rows: names.map((name) => ({
      value: name,
      cells: [name, status.includes(name) ? 'yes' : 'no'],
      problem: '',
    })),
    selected: Math.max(
      0,
      names.findIndex((name) => name === selected),
    ),
    keys: [
      { key: 't', label: 'or Enter shows or hides' },
      { key: 'u', label: 'up' },
      { key: 'd', label: 'down' },
      { key: 'r', label: 'reset' },
    ],
    note: '',
  }
  showOverlay(context, panel)
}

/** Handles a key of the panel. */
export async function onStatusPart(
  { value, key }: { value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const name = STATUS_PARTS.find((part) => part === value)
  if (!name) return
  const { status } = context.state().settings
  const next = key === 'r' ? undefined : changeParts(status, name, key ?? '')
  await changeSetting(['status'], next, context, signal)
  showStatusParts(context, name)
}

function listParts(status: readonly StatusPartName[]): StatusPartName[] {
  return [...status, ...STATUS_PARTS.filter((name) => !status.includes(name))]
}

function changeParts(
  status: readonly StatusPartName[],
  name: StatusPartName,
  key: string,
): readonly StatusPartName[] {
  const at = status.indexOf(name)
  if (key === 't') return at < 0 ? [...status, name] : status.toSpliced(at, 1)
  const to = at + (key === 'u' ? -1 : 1)
  if (at < 0 || to < 0 || to >= status.length) return status
  return status.toSpliced(at, 1).toSpliced(to, 0, name)
}
