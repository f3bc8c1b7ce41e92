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
 * Selects tools for the conversation: from its next step on the model is shown their schemas. Of more than a
 * conversation can select, it selects the first and names the others. Unknown names are reported beside those
 * that exist. Throws `invalid`, and selects nothing, when none exists.
 */
export function selectTools(
  { args, offerAgain }: Pick<ToolDispatch, 'args' | 'offerAgain'>,
  { catalog, selection }: { catalog: ToolCatalog; selection: SelectedTools },
): ToolOutput {
  const { tools: requested, unknown, noGroup } = findTools(readSelect(args), catalog)
  const selectable = requested.filter(isSelectable)
  const selected = selectable.slice(0, MAX_SELECTED_TOOLS)
  const rest = toNames(selectable.slice(MAX_SELECTED_TOOLS))
  const builtIn = requested.filter((tool) => !isSelectable(tool))
  const more = rest.length - MAX_REST
  const left = selection.use(toNames(selected)).filter((name) => catalog.find(name))
  if (selected.length > 0) offerAgain()
  const groups = catalog.findGroups([...selected, ...builtIn]).slice(0, MAX_GROUPS)
  const result = {
    selected: selected.map(showTool),
    ...(builtIn.length > 0 && { always_there: toNames(builtIn) }),
    ...(rest.length > 0 && { not_selected: rest.slice(0, MAX_REST) }),
    ...(more > 0 && { more_not_selected: more }),
    ...(left.length > 0 && { left }),
    ...(unknown.length > 0 && { unknown: describeUnknown(unknown, catalog) }),
    ...(noGroup !== undefined && { unknown_group: describeGroup(noGroup, catalog) }),
    groups: groups.map(attachGroup),
    note: [
      selected.length > 0 ? 'Call what is selected from your next step on' : '',
      rest.length > 0 ? `At most ${MAX_SELECTED_TOOLS} are selected at a time: name those you need` : '',
      left.length > 0
        ? 'The tools unused for longest were dropped; select them again when you need them'
        : '',
    ]
      .filter(Boolean)
      .join('. '),
  }
  return toResultOutput(result, groups)
}

interface SelectRequest {
  group: string | undefined
  tools: readonly string[]
}

interface FoundTools {
  /** The requested tools, each once. */
  tools: readonly ToolSpec[]
  /** The names without a tool. */
  unknown: readonly string[]
  /** The requested group when it does not exist. */
  noGroup: string | undefined
}

function findTools({ group: id, tools: names }: SelectRequest, catalog: ToolCatalog): FoundTools {
  const group = id === undefined ? undefined : catalog.findGroup(id)
  const unknown = names.filter((name) => !catalog.findAnyCase(name))
  const found = [...names, ...(group?.tools ?? [])].flatMap((name) => catalog.findAnyCase(name) ?? [])
  const noGroup = group ? undefined : id
  if (found.length > 0) return { tools: [...new Set(found)], unknown, noGroup }
  throw noGroup === undefined ? toNoTools(unknown, catalog) : toNoGroup(noGroup, catalog)
}

/** Describes unknown names, with the nearest tool of each. */
function describeUnknown(names: readonly string[], catalog: ToolCatalog) {
  return names.slice(0, MAX_NAMED).map((name) => {
    const closest = catalog.nearest(name)?.name
    return { name: shortenName(name), ...(closest !== undefined && { did_you_mean: closest }) }
  })
}

function describeGroup(id: string, catalog: ToolCatalog) {
  const closest = catalog.nearestGroup(id)?.id
  return { id: shortenName(id), ...(closest !== undefined && { did_you_mean: closest }) }
}

function toNoGroup(id: string, catalog: ToolCatalog): CrabError {
  const closest = catalog.nearestGroup(id)
  const hint = closest ? `did you mean "${closest.id}"?` : 'tools_groups lists the groups'
  return new CrabError('invalid', `Cannot select the group ${shortenName(id)}: it does not exist`, {
    hint,
  })
}

function toNoTools(names: readonly string[], catalog: ToolCatalog): CrabError {
  const labels = names.slice(0, MAX_NAMED).map((name) => {
    const closest = catalog.nearest(name)?.name
    return closest === undefined ? shortenName(name) : `${shortenName(name)} (did you mean "${closest}"?)`
  })
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const what = `Cannot select ${labels.join(', ')}${more}`
  const why = names.length === 1 ? 'no tool has that name' : 'no tools have these names'
  return new CrabError('invalid', `${what}: ${why}, and nothing was selected`, {
    hint: 'tools_search finds tools by name and description',
  })
}

/**
 * Parses the arguments. Models leave out optional fields, send null or an empty string for them, and write a
 * single name as a plain string. Throws `invalid`.
 */
function readSelect(args: Record<string, unknown>): SelectRequest {
  const parsed = shape().safeParse(args)
  if (!parsed.success) throw new CrabError('invalid', `Cannot select tools: it takes ${SHAPE}`)
  const { group, tools } = parsed.data
  const names = typeof tools === 'string' ? [tools] : (tools ?? [])
  const request = {
    group: group?.trim() || undefined,
    tools: names.map((name) => name.trim()).filter(Boolean),
  }
  if (request.group !== undefined || request.tools.length > 0) return request
  throw new CrabError('invalid', `Cannot select tools: none are named; pass ${SHAPE}`)
}

/** The expected arguments, as the model is shown them. */
const SHAPE = '{"group":"…"} with an id of tools_groups, or {"tools":["…"]} with names, or both'

function shape() {
  const text = z.string()
  return z.object({ group: z.nullish(text), tools: z.nullish(z.union([text, z.array(text)])) })
}

/** Truncates a name that a model wrote, for a message. */
function shortenName(name: string): string {
  return name.length > MAX_SHOWN ? `${takeStart(name, MAX_SHOWN)}…` : name
}

function toNames(tools: readonly ToolSpec[]): string[] {
  return tools.map(({ name }) => name)
}

const MAX_NAMED = 10
const MAX_SHOWN = 100
const MAX_REST = 200
/** The most groups in a result; their instructions and members make up most of it. */
const MAX_GROUPS = 8
