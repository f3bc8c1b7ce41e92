/** A mention `@server:…` in a message. */
export interface ResourceMention {
  server: string
  /** The possible readings, the likeliest first: punctuation after a name is rarely part of it. */
  candidates: readonly string[]
}

/**
 * Finds the mentions in a message, in order: an `@` at the start of a word, a server name, a colon and more
 * text. Blocks that a client inserted (a file, standard input, the output of a shell, a server's prompt) are
 * not searched: everything from the first opening tag of a kind to its last closing tag is skipped.
 */
export function findResourceMentions(content: string): ResourceMention[] {
  const typed = BLOCKS.reduce(withoutBlocks, content)
  return [...typed.matchAll(MENTION)].map(([, server = '', word = '']) => {
    const bare = withoutPunctuation(word)
    return { server, candidates: bare === '' || bare === word ? [word] : [bare, word] }
  })
}

/** The opening and closing tag of an inserted block, each on a line of its own. */
interface Block {
  begin: RegExp
  end: string
}

/** Removes the blocks of one kind in a single pass, since inserted text may be long and full of tags. */
function withoutBlocks(text: string, { begin, end }: Block): string {
  const from = begin.exec(text)?.index
  if (from === undefined) return text
  const lines = `${text}\n`
  const last = lines.lastIndexOf(`\n${end}\n`)
  return last < from ? text : `${text.slice(0, from)}\n${text.slice(last + 1 + end.length)}`
}

function withoutPunctuation(word: string): string {
  let end = word.length
  while (end > 0 && PUNCTUATION.has(word[end - 1]!)) end--
  return word.slice(0, end)
}

const MENTION = /(?<=^|[\s([{])@([a-z0-9][a-z0-9_-]{0,31}):([^\s"<>]+)/g
const PUNCTUATION = new Set(".,;:!?)]}'`")

const BLOCKS = ['file', 'folder', 'stdin', 'shell', 'prompt', 'resource'].map((tag): Block => {
  return { begin: new RegExp(`^<${tag}(?: [^\\n]*)?>$`, 'm'), end: `</${tag}>` }
})
