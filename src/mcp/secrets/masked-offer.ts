import type { ServerAbout } from '../peers/server-about.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import { maskAnswer } from './masked-answer.ts'
import { hideInCut } from './shown-target.ts'

/** The description of a server and its tools, in the server's own words. */
export interface ServerOffer {
  list: ToolList
  about: ServerAbout
}

/** Masks secrets in what a server says of itself: some include their command line or configuration. */
export function maskOffer({ list, about }: ServerOffer, values: readonly string[]): ServerOffer {
  if (values.length === 0) return { list, about }
  const secrets = [...new Set(values)].toSorted((a, b) => b.length - a.length) // one may be a prefix of another
  const tools = list.tools.map(({ name, description, inputSchema }) => ({
    name,
    description: hideInCut(description, secrets),
    inputSchema: maskAnswer(inputSchema, secrets),
  }))
  const words = {
    title: hideInCut(about.title, secrets),
    description: hideInCut(about.description, secrets),
    instructions: hideInCut(about.instructions, secrets),
  }
  return { list: { ...list, tools }, about: { ...about, ...words } }
}
