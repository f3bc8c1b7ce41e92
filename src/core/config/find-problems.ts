import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { REDACTED } from '../base/secrets/redact.ts'
import {
  findAgentFile,
  type IdentifiedFile,
  listFileProblems,
  readAgentFiles,
  toAgent,
} from './agent-files.ts'
import { agentTable, listEntryIndexes } from './agent-schema.ts'
import { configTable } from './config-schema.ts'
import { findForeignMark, foreignHomeHint } from './foreign-home.ts'
import { readConfig } from './load-config.ts'
import type { HomePaths } from './paths.ts'
import { findLostSecrets, findUnfilledValues, toUnfilledText } from './unfilled-values.ts'
import { type FileIssue, formatPath, type KeyPath } from './validation-issue.ts'

/** Returns all problems of config.toml and the agent files. Changes nothing. */
export async function findProblems(paths: HomePaths): Promise<FileIssue[]> {
  const mark = await findForeignMark(paths)
  if (mark !== undefined) return [foreignHome(mark, foreignHomeHint(paths))]
  const agents = await Promise.all((await readAgentFiles(paths.agents)).map(toAgent))
  const config = await readConfig(paths)
  return [...(config.ok ? [] : config.problems), ...agents.flatMap(listFileProblems)]
}

/** Returns the problems of one agent's files in a folder; none without such a file. Changes nothing. */
export async function findAgentProblems(folder: string, name: string): Promise<readonly FileIssue[]> {
  const file = await findAgentFile(folder, name)
  const outcome = file && (await toAgent(file))
  return outcome === undefined ? [] : listFileProblems(outcome)
}

/**
 * Returns warnings about valid agent files: placeholders that were never filled in, and lost secrets. Changes
 * nothing.
 */
export async function findWarnings(paths: HomePaths): Promise<FileIssue[]> {
  if ((await findForeignMark(paths)) !== undefined) return []
  const files = await readAgentFiles(paths.agents)
  return (await Promise.all(files.map(fileWarnings))).flat()
}

async function fileWarnings(file: IdentifiedFile): Promise<FileIssue[]> {
  const agent = await toAgent(file)
  if (!agent.ok || !file.document.ok) return []
  const { value: document } = file.document
  const indexes = listEntryIndexes(agent.value)
  return agent.value.mcps.flatMap((entry, nth) => {
    const i = indexes[nth]!
    const at = (path: KeyPath) => ({
      ...{ file: document.file, line: document.lineOf(['mcps', i, ...path]), column: undefined },
      key: formatPath(['mcps', i, ...path]),
    })
    const unfilled = findUnfilledValues(entry).map((one) => ({
      ...at(one.path),
      ...toUnfilledText(entry.name, agent.value.name, one),
    }))
    const lostSecrets = findLostSecrets(entry).map((path) => ({
      ...at(path),
      message: `${formatPath(path)} of the server "${entry.name}" holds ${REDACTED} in place of a secret`,
      hint: 'write the secret there',
    }))
    return [...unfilled, ...lostSecrets]
  })
}

/** Returns the JSON Schemas of config.toml and of an agent file, in the form that users write. */
export function fileSchemas(): { config: JsonObject; agent: JsonObject } {
  return {
    config: z.toJSONSchema(configTable, { io: 'input' }),
    agent: z.toJSONSchema(agentTable, { io: 'input' }),
  }
}

function foreignHome(mark: string, hint: string): FileIssue {
  const message = 'belongs to the Rust crabtalk, whose home is not changed'
  return { file: mark, line: 1, column: undefined, key: '', message, hint }
}
