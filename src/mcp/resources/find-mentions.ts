/** Something a message may name with `@server:…`. */
export interface ResourceMention {
  server: string
  /** What it may be, the likeliest first: a full stop behind a name is seldom a part of it. */
  candidates: readonly string[]
}

/**
 * What a message names, in the order it stands there: an `@` at the beginning of a word, a server's name, a colon and
 * something behind. What stands in a block that a client has put there (a file, standard input, the output of a shell, a server's prompt) is
 * nobody's wish: everything from the first tag of a kind to the last is passed over.
 */
export function findResourceMentions(content: string): ResourceMention[] {
  const typed = BLOCKS.reduce(withoutBlocks, content)
  return [...typed.matchAll(MENTION)].map(([, server = '', word = '']) => {
    const bare = withoutPunctuation(word)
    return { server, candidates: bare === '' || bare === word ? [word] : [bare, word] }
  })
}

/** A tag stands on a line of its own. */
interface Block {
  begin: RegExp
  end: string
}

/** In one pass: what is not typed by a person may be long, and full of tags. */
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
