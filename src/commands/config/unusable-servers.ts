import { readAgentFiles, toAgent } from '../../core/config/agent-files.ts'
import { listEntryIndexes } from '../../core/config/agent-schema.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { type FileIssue, formatPath } from '../../core/config/validation-issue.ts'
import { validateEntry } from '../../mcp/entry-facts.ts'

/** Finds servers of agent files that can never be started, such as one with two sources of credentials. */
export async function findUnusableServers({
  agents: folder,
  home,
}: Pick<HomePaths, 'agents' | 'home'>): Promise<FileIssue[]> {
  const issues = (await readAgentFiles(folder)).map(async (file): Promise<FileIssue[]> => {
    const agent = await toAgent(file)
    if (!agent.ok || !file.document.ok) return []
    const { value: document } = file.document
    const indexes = listEntryIndexes(agent.value)
    return agent.value.mcps.flatMap((entry, nth) => {
      const issue = validateEntry(entry, home)
      if (!issue) return []
      const path = ['mcps', indexes[nth]!]
      const place = { file: document.file, line: document.lineOf(path), column: undefined }
      const message = `the server "${entry.name}" cannot be used: ${issue.message}`
      return { ...place, key: formatPath(path), message, hint: issue.hint }
    })
  })
  return (await Promise.all(issues)).flat()
}
