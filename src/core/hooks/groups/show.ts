import { collapseBlanks } from '../../base/sanitize.ts'
import { takeStart } from '../../base/truncate.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { ToolGroup, ToolOutput } from '../../runtime/hook.ts'

/** Formats a tool for a result: enough to choose by. */
export function showTool({ name, description }: ToolSpec): { name: string; description: string } {
  return { name, description: short(description, MAX_TOOL_WORDS) }
}

/** Formats a group for the list of groups, with at most that many characters of its instructions. */
export function showGroup(
  { id, title, description, instructions = '', tools }: ToolGroup,
  maxInstructions: number,
) {
  return {
    ...{ id, title, description: short(description, MAX_GROUP_WORDS), member_count: tools.length },
    ...(instructions !== '' && {
      instructions:
        instructions.length > maxInstructions ? short(instructions, maxInstructions) : instructions,
    }),
  }
}

/** Formats a group that accompanies its tools, with its instructions and its other members. */
export function attachGroup({ id, title, description, instructions = '', tools }: ToolGroup) {
  const more = tools.length - MAX_MEMBERS
  return {
    ...{ id, title, description },
    ...(instructions !== '' && { instructions }),
    members: tools.slice(0, MAX_MEMBERS),
    ...(more > 0 && { more_members: more }),
  }
}

/** Converts a result to the JSON that models read; `attached` are the groups in it with their whole instructions. */
export function toResultOutput(result: object, attached: readonly ToolGroup[] = []): ToolOutput {
  const introduces = attached.flatMap(({ server, instructions = '' }) => {
    return server === undefined || instructions === '' ? [] : [server]
  })
  return { output: JSON.stringify(result), isError: false, ...(introduces.length > 0 && { introduces }) }
}

/** Puts a text on one line, truncated to `length`. */
function short(text: string, length: number): string {
  const line = collapseBlanks(text)
  return line.length > length ? `${takeStart(line, length - 1)}…` : line
}

const MAX_TOOL_WORDS = 300
const MAX_GROUP_WORDS = 300
const MAX_MEMBERS = 200
