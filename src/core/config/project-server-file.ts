import type { McpEntry } from './mcp-entry.ts'

/** A project's file of MCP servers, with the content that the user trusted. */
export interface ProjectServerFile {
  /** Absolute. */
  file: string
  /** The SHA-256 of the content, in hexadecimal digits. */
  sha256: string
}

/** Builds the origin of an entry that a project's file declares, in place of one that the file gives itself. */
export function toProjectOrigin({ file, sha256 }: ProjectServerFile): NonNullable<McpEntry['origin']> {
  return { project_file: file, project_sha256: sha256 }
}

/** Returns the project's file that declares an entry; undefined for an entry of the user. */
export function getProjectServerFile({ origin }: Pick<McpEntry, 'origin'>): ProjectServerFile | undefined {
  const { project_file: file, project_sha256: sha256 } = origin ?? {}
  return typeof file === 'string' && typeof sha256 === 'string' ? { file, sha256 } : undefined
}
