import { pluralize } from '../../core/base/format.ts'
import { newPage } from '../overlays/page.ts'
import type { PageOverlay } from '../overlays/types.ts'
import type { SetupArea } from '../ports.ts'
import { hint, inColumns, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/doctor [fix|deep]`: shows what `crabtalk doctor` finds, after applying the fixes that need no question, or after
 * starting the MCP servers.
 */
export async function showDoctor(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (args !== '' && args !== FIX && args !== DEEP)
    return printNotice(context, 'warning', `Cannot check "${args}": /doctor takes only "${FIX}" or "${DEEP}"`)
  await check({ fix: args === FIX, deep: args === DEEP }, context, signal)
}

/** Carries out the key of the page. */
export async function onDoctorKey(context: SlashContext, signal: AbortSignal): Promise<void> {
  await check({ fix: true, deep: false }, context, signal)
}

const FIX = 'fix'
const DEEP = 'deep'

async function check(
  options: { fix: boolean; deep: boolean },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  hint(context, options.deep ? 'Starting the MCP servers…' : 'Checking…')
  try {
    showOverlay(context, doctorPage(await context.ports.checkSetup(options, signal), options.deep))
  } finally {
    hint(context, '')
  }
}

function doctorPage(areas: readonly SetupArea[], isDeep: boolean): PageOverlay {
  const all = areas.flatMap(({ findings }) => findings)
  const count = (status: string) => all.filter((one) => one.status === status).length
  const title = `Doctor: ${pluralize(count('problem'), 'problem')}, ${pluralize(count('warning'), 'warning')}`
  const text = areas.map((area) => `${area.area}\n${inColumns(toRows(area))}`).join('\n\n')
  const more = isDeep ? '' : `\n\n/doctor ${DEEP} starts the MCP servers, too`
  const page = newPage(title, `${text}${more}`)
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
