import type { ServerAbout } from '../peers/server-about.ts'
import type { ToolList } from '../tools/remote-tool.ts'
import { maskAnswer } from './masked-answer.ts'
import { hideInCut } from './shown-target.ts'

/** The description of a server and its tools, in the server's own words. */
export interface ServerOffer {
  list: ToolList
  about: ServerAbout
}

/** Takes secrets out of what a server says of itself: some put their command line, or their configuration, there. */
export function maskOffer({ list, about }: ServerOffer, given: readonly string[]): ServerOffer {
  if (given.length === 0) return { list, about }
  const secrets = [...new Set(given)].toSorted((a, b) => b.length - a.length) // one may begin with another
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
