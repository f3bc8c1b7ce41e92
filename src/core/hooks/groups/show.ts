import { takeStart } from '../../base/truncate.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup, ToolOutput } from '../../runtime/hook.ts'

/** A tool as results name it: enough to choose by. */
export function showTool({ name, description }: ToolSpec): { name: string; description: string } {
  return { name, description: short(description, MAX_TOOL_WORDS) }
}

/** A group as the directory has it. */
export function showGroup({ id, title, description, tools }: ToolGroup) {
  return { id, title, description: short(description, MAX_GROUP_WORDS), member_count: tools.length }
}

/** A group as it comes with tools of it: how it wants to be used, and what else belongs to it. */
export function attachGroup({ id, title, description, instructions = '', tools }: ToolGroup) {
  const more = tools.length - MAX_MEMBERS
  return {
    ...{ id, title, description },
    ...(instructions !== '' && { instructions }),
    members: tools.slice(0, MAX_MEMBERS),
    ...(more > 0 && { more_members: more }),
  }
}

/** A result as models read it. */
export function toResultOutput(result: object): ToolOutput {
  return { output: JSON.stringify(result), isError: false }
}

/** Words on one line, cut where they are longer. */
function short(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > length ? `${takeStart(line, length - 1)}…` : line
}

const MAX_TOOL_WORDS = 300
const MAX_GROUP_WORDS = 300
const MAX_MEMBERS = 200
