import type { ToolSpec } from '../../provider/types.ts'

/** The tools that have any of the words of a query, best first; of two that are as good, by name. */
export function rankTools(tools: readonly ToolSpec[], query: string): ToolSpec[] {
  const words = splitWords(query).slice(0, MAX_WORDS)
  const wanted = query.toLowerCase()
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, wanted, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool)
}

/** A name counts more than a description, the whole of one more than a part, and having all words more than some. */
function scoreTool(tool: ToolSpec, wanted: string, words: readonly string[]): number {
  const { name, alias = '', description } = tool
  const names = [name.toLowerCase(), alias.toLowerCase()]
  const [parts, described] = [new Set(splitWords(`${name} ${alias}`)), new Set(splitWords(description))]
  const said = description.toLowerCase()
  const scores = words.map((word) => {
    const inName = parts.has(word) ? 100 : names.some((one) => one.includes(word)) ? 50 : 0
    const inWords = described.has(word) ? 20 : said.includes(word) ? 10 : 0
    return inName + inWords
  })
  const isWhole = names.includes(wanted) ? 10_000 : 0
  const hasAll = scores.length > 0 && scores.every((score) => score > 0) ? 1_000 : 0
  return isWhole + hasAll + scores.reduce((sum, score) => sum + score, 0)
}

/** `createIssue`, `create_issue` and `create issue` are the same two words. */
function splitWords(text: string): string[] {
  const apart = text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').toLowerCase()
  return [...new Set(apart.split(/[^\p{L}\p{N}]+/u).filter(Boolean))]
}

/** Of a query; each is looked for in the words of every tool. */
const MAX_WORDS = 32
