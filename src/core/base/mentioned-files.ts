/**
 * Returns a sent message as it was typed: without the texts of files and folders that were added at its end
 * because it names them with `@`. Sending it again adds their current contents.
 */
export function withoutMentionedFiles(content: string): string {
  if (!END.test(content)) return content
  for (const { index, 1: block, 2: empty } of content.matchAll(START)) {
    const typed = content.slice(0, index)
    const path = block ?? empty ?? ''
    if (typed.includes(`@${path}`) || typed.includes(`@"${path}"`)) return typed
  }
  return content
}

/** Matches the beginning of what a mention adds: a file, a folder, or the remark that a file is empty. */
const START =
  /\n\n(?:<(?:file|folder) path="([^"\n]+)"(?: lines="[\d-]+")?>\n|([^\n]+) is empty\.(?=\n\n|$))/g
const END = /(?:\n<\/(?:file|folder)>| is empty\.)$/
