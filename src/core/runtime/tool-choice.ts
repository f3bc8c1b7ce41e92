import { CrabError } from '../base/errors.ts'
import type { ToolChoice, ToolSpec } from '../provider/types.ts'

/**
 * Converts the tool choice of a client or an agent's file to the provider's form. Throws `invalid` for a tool
 * that is not offered.
 */
export function toToolChoice(choice: string | undefined, tools: readonly ToolSpec[]): ToolChoice | undefined {
  if (choice === undefined || choice === '') return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required')
    return tools.length > 0 ? choice : undefined
  const tool = tools.find(({ name }) => name === choice) ?? tools.find(({ alias }) => alias === choice)
  if (tool) return { tool: tool.name }
  throw new CrabError('invalid', `Cannot require the tool "${choice}": the agent does not have that tool`, {
    hint: tools.length > 0 ? `its tools are ${tools.map(({ name }) => name).join(', ')}` : 'it has no tools',
  })
}
