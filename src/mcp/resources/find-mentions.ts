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
  const typed = BLOCKS.reduce((text, block) => text.replace(block, '\n'), content)
  return [...typed.matchAll(MENTION)].map(([, server = '', word = '']) => {
    const bare = word.replace(/[.,;:!?)\]}'`]+$/, '')
    return { server, candidates: bare === '' || bare === word ? [word] : [bare, word] }
  })
}

const MENTION = /(?<=^|[\s([{])@([a-z0-9][a-z0-9_-]{0,31}):([^\s"<>]+)/g

const BLOCKS = ['file', 'folder', 'stdin', 'shell', 'prompt', 'resource'].map(
  (tag) => new RegExp(`^<${tag}(?: [^\\n]*)?>$[^]*^</${tag}>$`, 'gm'),
)
