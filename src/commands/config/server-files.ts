import type { Host } from '../../cli/host.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { FileIssue } from '../../core/config/validation-issue.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import type { EdgeServer } from '../../edge/entries/types.ts'
import { toSessionPlace } from '../session-servers.ts'

/**
 * Finds what is wrong in the user's mcp.toml and in the files of servers of this directory, whether they are trusted
 * or not: reading them runs nothing.
 */
export async function findServerFileProblems(host: Host): Promise<FileIssue[]> {
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return []
  const { findEntryIssue, readServerFiles } = await import('../../edge/entries/session-servers.ts')
  const { files } = await readServerFiles(place)
  return files.flatMap(({ path, problems, servers }) => [
    ...problems.map(({ message, hint }) => toIssue(path, message, hint)),
    ...servers.flatMap((server, at) => {
      const issue = findEntryIssue(server) ?? findClash(server, servers.slice(0, at))
      if (issue === undefined) return []
      const line = server.lineOf?.(issue.path) ?? 1
      const message = `the server "${server.name}": ${issue.message}`
      return [{ file: path, line, column: undefined, key: '', message, hint: issue.hint }]
    }),
  ])
}

function findClash({ name }: EdgeServer, earlier: readonly EdgeServer[]) {
  const taken = findNameClash(earlier, name)
  return taken === undefined
    ? undefined
    : { path: [], message: `its tools have the names of "${taken}"`, hint: undefined }
}

/** Converts a message that begins with the file and the place in it. */
function toIssue(file: string, text: string, hint: string | undefined): FileIssue {
  const [, line = '1', column, message = text] = text.startsWith(file)
    ? (/^(?::(\d+))?(?::(\d+))?:? ([\s\S]*)$/.exec(text.slice(file.length)) ?? [])
    : []
  return {
    file,
    line: Number(line),
    column: column === undefined ? undefined : Number(column),
    key: '',
    message,
    hint,
  }
}
