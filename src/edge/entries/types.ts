import type { JsonObject } from '../../core/base/message.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { KeyPath } from '../../core/config/validation-issue.ts'
import type { ProjectOwner } from '../../core/trust/find-project.ts'

/** The directory in which a session works, and the user whose files count there. */
export interface SessionPlace extends ProjectOwner {
  /** Absolute. */
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  paths: Pick<HomePaths, 'home' | 'trust' | 'userServers'>
}

/** The file of the user, or one of the project. */
export type ServerScope = 'user' | 'project'

/** A server as a file declares it: values may have placeholders such as `${TOKEN}`. */
export interface EdgeServer {
  name: string
  /** The keys of the entry without its name, as for `[[mcps]]`, and without `oauth` and `oauth_config`. */
  table: JsonObject
  oauth: 'off' | 'auto' | 'manual'
  oauthConfig: JsonObject | undefined
  /** Absolute. */
  file: string
  scope: ServerScope
  /** The SHA-256 of the content of the file, in hexadecimal digits; absent for a server that no file declares. */
  digest?: string
  /** Returns the line of a key of the entry, 1-based; undefined for JSON. */
  lineOf?(key: KeyPath): number
  /** The reason why the entry cannot be used whatever its values; empty when there is none. */
  problem: string
  /** Facts about keys that were not taken over, as sentences without a full stop. */
  notes: readonly string[]
}

/** A problem of a whole file. */
export interface ServerFileProblem {
  /** Absolute. */
  file: string
  /** A sentence without a full stop that names the file. */
  message: string
  hint?: string | undefined
}
