import { pluralize } from '../../core/base/format.ts'
import { newPage } from '../overlays/page.ts'
import type { PageOverlay } from '../overlays/types.ts'
import type { SetupArea } from '../ports.ts'
import { hint, inColumns, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/doctor [fix]`: shows what `crabtalk doctor` finds, or applies the fixes that need no question. */
export async function showDoctor(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (args !== '' && args !== FIX)
    return printNotice(context, 'warning', `Cannot check "${args}": /doctor takes only "${FIX}"`)
  await check({ fix: args === FIX }, context, signal)
}

/** Carries out the key of the page. */
export async function onDoctorKey(context: SlashContext, signal: AbortSignal): Promise<void> {
  await check({ fix: true }, context, signal)
}

const FIX = 'fix'

async function check(options: { fix: boolean }, context: SlashContext, signal: AbortSignal): Promise<void> {
  hint(context, 'Checking…')
  try {
    showOverlay(context, doctorPage(await context.ports.checkSetup(options, signal)))
  } finally {
    hint(context, '')
  }
}

function doctorPage(areas: readonly SetupArea[]): PageOverlay {
  const all = areas.flatMap(({ findings }) => findings)
  const count = (status: string) => all.filter((one) => one.status === status).length
  const title = `Doctor: ${pluralize(count('problem'), 'problem')}, ${pluralize(count('warning'), 'warning')}`
  const text = areas.map((area) => `${area.area}\n${inColumns(toRows(area))}`).join('\n\n')
  const page = newPage(title, `${text}\n\nWith the MCP servers started: crabtalk doctor --deep`)
  if (!all.some(({ isFixable }) => isFixable)) return page
  return { ...page, action: { picker: 'doctor', value: '', keys: [{ key: 'f', label: FIX }] } }
}

function toRows({ findings }: SetupArea): [string, string][] {
  return findings.flatMap(({ status, message, hint: advice }): [string, string][] => [
    [status.padEnd(STATUS_WIDTH), message],
    ...(advice === undefined ? [] : [['', `hint: ${advice}`] as [string, string]]),
  ])
}

/** The same columns in every area. */
const STATUS_WIDTH = 'problem'.length
