import { CrabError } from '../../base/errors.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { SelectedTools } from '../../runtime/selected-tools.ts'
import { attachGroup, showTool, toResultOutput } from './show.ts'
import { isSelectable, type ToolCatalog } from './tool-catalog.ts'

/**
 * Finds tools by words, best first, with the groups they belong to; `*` lists all names. Throws `invalid` for
 * an empty query.
 */
export function searchTools(
  args: Record<string, unknown>,
  { catalog, selection }: { catalog: ToolCatalog; selection: Pick<SelectedTools, 'names'> },
): ToolOutput {
  const { tools } = catalog
  const query = typeof args['query'] === 'string' ? args['query'].trim() : ''
  if (query === '') throw new CrabError('invalid', 'Cannot search: query must be words, or * for all names')
  if (query === '*') return toResultOutput(listNames(tools))
  const found = rankTools(tools, query)
  const matches = found.slice(0, parseLimit(args))
  const groups = catalog.findGroups(matches).slice(0, MAX_GROUPS)
  const isThere = (tool: ToolSpec) => !isSelectable(tool) || selection.names.includes(tool.name)
  const result = {
    tools: matches.map((tool) => ({ ...showTool(tool), ...(isThere(tool) && { selected: true }) })),
    total_matches: found.length,
    total_tools: tools.length,
    groups: groups.map(attachGroup),
    ...(found.length === 0 && { note: 'No tool has any of these words; tools_groups lists all groups' }),
  }
  return toResultOutput(result, groups)
}

function listNames(tools: readonly ToolSpec[]): object {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name)
  return { names, total_tools: tools.length }
}

/** Parses the limit. Some models send a number as a string. */
function parseLimit({ limit }: Record<string, unknown>): number {
  const count = Math.trunc(Number(limit ?? DEFAULT_RESULTS))
  return count >= 1 ? Math.min(count, MAX_RESULTS) : DEFAULT_RESULTS
}

/** Returns the tools that match any word of a query, best first; equally good ones are sorted by name. */
function rankTools(tools: readonly ToolSpec[], query: string): ToolSpec[] {
  const words = splitWords(query).slice(0, MAX_WORDS)
  const lowerQuery = query.toLowerCase()
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, lowerQuery, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool)
}

/**
 * Scores a tool: a match in the name counts more than one in the description, a whole word more than a part,
 * and a match of all words more than one of some.
 */
function scoreTool(tool: ToolSpec, lowerQuery: string, words: readonly string[]): number {
  const { name, alias = '', description } = tool
  const names = [name.toLowerCase(), alias.toLowerCase()]
  const [parts, described] = [new Set(splitWords(`${name} ${alias}`)), new Set(splitWords(description))]
  const lowerDescription = description.toLowerCase()
  const scores = words.map((word) => {
    const inName = parts.has(word) ? 100 : names.some((one) => one.includes(word)) ? 50 : 0
    const inWords = described.has(word) ? 20 : lowerDescription.includes(word) ? 10 : 0
    return inName + inWords
  })
  const isWhole = names.includes(lowerQuery) ? 10_000 : 0
  const hasAll = scores.length > 0 && scores.every((score) => score > 0) ? 1_000 : 0
  return isWhole + hasAll + scores.reduce((sum, score) => sum + score, 0)
}

/** Splits a text into words: `createIssue`, `create_issue` and `create issue` give the same two. */
export function splitWords(text: string): string[] {
  const apart = text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').toLowerCase()
  return [...new Set(apart.split(/[^\p{L}\p{N}]+/u).filter(Boolean))]
}

/** The most words of a query, because each is searched for in every tool. */
const MAX_WORDS = 32

const DEFAULT_RESULTS = 20
const MAX_RESULTS = 64
const MAX_NAMES = 1_000
/** The most groups, which come with their instructions, in a result. */
const MAX_GROUPS = 4
