import { pluralize } from '../../core/base/format.ts'
import type { ProjectTrust, ServerFileTrust } from '../../core/trust/trust-file.ts'
import { describeServer, summarizeServer } from './describe-server.ts'
import type { ServerFile } from './read-server-file.ts'

/** Whether the servers of a file may run: the user said yes, no, or nothing yet about this content. */
export type FileTrust = 'trusted' | 'refused' | 'unanswered'

/** A file of a project whose servers do not run, because the user has not trusted this content. */
export interface UntrustedFile {
  path: string
  digest: string
  trust: Exclude<FileTrust, 'trusted'>
  names: readonly string[]
  /** The lines that tell the user which programs would run, and which changed since the last answer. */
  description: readonly string[]
  /** The servers in the form that trust.toml stores. */
  summaries: readonly string[]
}

/** The stored answers about a project. */
export interface StoredTrust {
  /** The state of the project's folder. */
  state: ProjectTrust['state'] | undefined
  answers: ReadonlyMap<string, ServerFileTrust>
}

/** Decides whether the servers of a file may run. An answer holds for the content that it was given about. */
export function judgeFile(
  { path, digest }: Pick<ServerFile, 'path' | 'digest'>,
  stored: StoredTrust,
): FileTrust {
  const answer = stored.answers.get(path)
  if (answer?.digest === digest) return answer.state === 'trusted' ? 'trusted' : 'refused'
  return stored.state === 'untrusted' ? 'refused' : 'unanswered'
}

/** Describes a file that is not trusted. */
export function toUntrustedFile(
  file: ServerFile,
  trust: UntrustedFile['trust'],
  before: ServerFileTrust | undefined,
): UntrustedFile {
  const { path, digest, servers } = file
  const summaries = servers.map(summarizeServer)
  const earlier = before?.digest === digest ? undefined : before
  const lines = servers.flatMap((server, at) => {
    const [title = '', ...rest] = describeServer(server)
    const change = earlier && describeChange(earlier, server.name, summaries[at]!)
    return change === undefined ? [title, ...rest] : [`${title} (${change.mark})`, ...change.lines, ...rest]
  })
  const after = earlier ? describeRest(earlier, file, summaries) : []
  return {
    path,
    digest,
    trust,
    names: servers.map(({ name }) => name),
    description: [...lines, ...after],
    summaries,
  }
}

/** Says in one line that the servers of a file do not run, and which command shows them. */
export function toSkippedLine({ path, names }: UntrustedFile): string {
  return `${pluralize(names.length, 'MCP server')} of ${path} ${names.length === 1 ? 'is' : 'are'} not used: you have not trusted the file; to review it: crabtalk trust`
}

/** Marks a server that is new or changed since an earlier answer; undefined for one that is the same. */
function describeChange(
  { servers }: ServerFileTrust,
  name: string,
  summary: string,
): { mark: string; lines: string[] } | undefined {
  const before = servers.find((one) => one.startsWith(`${name}: `))
  if (before === summary) return undefined
  if (before === undefined) return { mark: 'new', lines: [] }
  return { mark: 'changed', lines: [`  was ${before.slice(name.length + 2)}`] }
}

/** Describes the changes of a file that no server of it shows. */
function describeRest(
  { since, state, servers: before }: ServerFileTrust,
  { servers }: ServerFile,
  summaries: readonly string[],
): string[] {
  const names = new Set(servers.map(({ name }) => name))
  const gone = before.map((one) => one.slice(0, one.indexOf(': '))).filter((name) => !names.has(name))
  const isSame = gone.length === 0 && summaries.every((summary) => before.includes(summary))
  const verb = state === 'trusted' ? 'trusted' : 'refused'
  return [
    '',
    `The file has changed since you ${verb} it on ${since.slice(0, 10)}.`,
    ...(gone.length > 0 ? [`No longer there: ${gone.join(', ')}`] : []),
    ...(isSame ? ['The commands are the same; a secret, a comment or the order changed.'] : []),
  ]
}
