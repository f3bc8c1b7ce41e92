import * as z from 'zod/mini'
import { CrabError } from '../../base/errors.ts'
import { MAX_SELECTED_TOOLS } from '../../base/tool-limits.ts'
import { takeStart } from '../../base/truncate.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { attachGroup, showTool, toResultOutput } from './show.ts'
import { isSelectable, type ToolCatalog } from './tool-catalog.ts'

/**
 * Selects tools for the conversation: from its next step on the model is shown their schemas. Of more than a conversation
 * can have the first are taken, and the others named. Throws `invalid`, and selects nothing, for what there is not.
 */
export function selectTools(
  { args, offerAgain }: Pick<ToolDispatch, 'args' | 'offerAgain'>,
  { catalogue, selection }: { catalogue: ToolCatalog; selection: SelectedTools },
): ToolOutput {
  const asked = findTools(readSelect(args), catalogue)
  const wanted = asked.filter(isSelectable)
  const taken = wanted.slice(0, MAX_SELECTED_TOOLS)
  const rest = toNames(wanted.slice(MAX_SELECTED_TOOLS))
  const builtIn = asked.filter((tool) => !isSelectable(tool))
  const more = rest.length - MAX_REST
  const left = selection.use(toNames(taken)).filter((name) => catalogue.find(name))
  if (taken.length > 0) offerAgain()
  return toResultOutput({
    selected: taken.map(showTool),
    ...(builtIn.length > 0 && { always_there: toNames(builtIn) }),
    ...(rest.length > 0 && { not_selected: rest.slice(0, MAX_REST) }),
    ...(more > 0 && { more_not_selected: more }),
    ...(left.length > 0 && { left }),
    groups: catalogue
      .findGroups([...taken, ...builtIn])
      .slice(0, MAX_GROUPS)
      .map(attachGroup),
    note: [
      taken.length > 0 ? 'Call what is selected from your next step on' : '',
      rest.length > 0 ? `At most ${MAX_SELECTED_TOOLS} are selected at a time: name those you need` : '',
      left.length > 0 ? 'What left was unused for longest; select it again when you need it' : '',
    ]
      .filter(Boolean)
      .join('. '),
  })
}

interface SelectRequest {
  group: string | undefined
  tools: readonly string[]
}

/** The tools that are asked for, each once. */
function findTools({ group: id, tools: names }: SelectRequest, catalogue: ToolCatalog): ToolSpec[] {
  const group = id === undefined ? undefined : catalogue.findGroup(id)
  if (id !== undefined && !group) throw noGroup(id, catalogue)
  const unknown = names.filter((name) => !catalogue.find(name))
  if (unknown.length > 0) throw noTools(unknown, catalogue)
  return [...new Set([...names, ...(group?.tools ?? [])].map((name) => catalogue.find(name)!))]
}

function noGroup(id: string, catalogue: ToolCatalog): CrabError {
  const meant = catalogue.nearestGroup(id)
  const hint = meant ? `did you mean "${meant.id}"?` : 'tools_groups lists the groups'
  return new CrabError('invalid', `Cannot select the group ${shortenName(id)}: there is no such group`, {
    hint,
  })
}

function noTools(names: readonly string[], catalogue: ToolCatalog): CrabError {
  const said = names.slice(0, MAX_NAMED).map((name) => {
    const meant = catalogue.nearest(name)?.name
    return meant === undefined ? shortenName(name) : `${shortenName(name)} (did you mean "${meant}"?)`
  })
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const what = `Cannot select ${said.join(', ')}${more}`
  const why = names.length === 1 ? 'there is no such tool' : 'there are no such tools'
  return new CrabError('invalid', `${what}: ${why}, and nothing was selected`, {
    hint: 'tools_search finds tools by what they are called and do',
  })
}

/** Models leave out what they can, say null or nothing for it, and write one name as a bare text. Throws `invalid`. */
function readSelect(args: Record<string, unknown>): SelectRequest {
  const parsed = shape().safeParse(args)
  if (!parsed.success) throw new CrabError('invalid', `Cannot select tools: it takes ${SHAPE}`)
  const { group, tools } = parsed.data
  const names = typeof tools === 'string' ? [tools] : (tools ?? [])
  const asked = { group: group?.trim() || undefined, tools: names.map((name) => name.trim()).filter(Boolean) }
  if (asked.group !== undefined || asked.tools.length > 0) return asked
  throw new CrabError('invalid', `Cannot select tools: none are named; it takes ${SHAPE}`)
}

/** What a model is told to write. */
const SHAPE = '{"group":"…"} with an id of tools_groups, or {"tools":["…"]} with names, or both'

function shape() {
  const text = z.string()
  return z.object({ group: z.nullish(text), tools: z.nullish(z.union([text, z.array(text)])) })
}

/** What a model wrote, short enough for a message. */
function shortenName(name: string): string {
  return name.length > MAX_SHOWN ? `${takeStart(name, MAX_SHOWN)}…` : name
}

function toNames(tools: readonly ToolSpec[]): string[] {
  return tools.map(({ name }) => name)
}

const MAX_NAMED = 10
const MAX_SHOWN = 100
const MAX_REST = 200
/** With their instructions and members, which make up most of a result. */
const MAX_GROUPS = 8
