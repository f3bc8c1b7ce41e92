import type { ToolSpec } from '../../provider/types.ts'

/** Returns the tools that match any word of a query, best first; equally good ones are sorted by name. */
export function rankTools(tools: readonly ToolSpec[], query: string): ToolSpec[] {
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
function splitWords(text: string): string[] {
  const apart = text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').toLowerCase()
  return [...new Set(apart.split(/[^\p{L}\p{N}]+/u).filter(Boolean))]
}

/** The most words of a query, because each is searched for in every tool. */
const MAX_WORDS = 32
