import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import { readAgentFiles, toAgent } from './agent-files.ts'
import { agentTable } from './agent-schema.ts'
import { configTable } from './config-schema.ts'
import { findForeignMark, importHint } from './foreign-home.ts'
import { readConfig } from './load-config.ts'
import type { HomePaths } from './paths.ts'
import type { Problem } from './problem.ts'

/** Everything that is wrong with config.toml and the agent files, without changing any of them. */
export async function findProblems(paths: HomePaths): Promise<Problem[]> {
  const mark = await findForeignMark(paths)
  if (mark !== undefined) return [foreignHome(mark, importHint(paths))]
  const agents = await Promise.all((await readAgentFiles(paths.agents)).map(toAgent))
  const outcomes = [await readConfig(paths), ...agents]
  return outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems))
}

/** The JSON Schemas of config.toml and of an agent file, as a person writes them. */
export function fileSchemas(): { config: JsonObject; agent: JsonObject } {
  return {
    config: z.toJSONSchema(configTable, { io: 'input' }),
    agent: z.toJSONSchema(agentTable, { io: 'input' }),
  }
}

function foreignHome(mark: string, hint: string): Problem {
  const message = 'belongs to the Rust crabtalk; its home is left as it is'
  return { file: mark, line: 1, column: undefined, key: '', message, hint }
}
