/** Something a message names with `@`. */
export interface Mention {
  /** What it may mean, the likeliest first: a full stop behind a name is seldom a part of it. */
  candidates: readonly MentionCandidate[]
  /** Written in quotes: surely a path. */
  isQuoted: boolean
}

export interface MentionCandidate {
  path: string
  /** Of lines, from 1, both included. */
  range: { from: number; to: number } | undefined
}

/** What a text names: `@path`, `@"a path"`, each with `:10` or `:10-20` behind it for lines; in the order they stand. */
export function findMentions(text: string): Mention[] {
  return [...text.matchAll(MENTION)].map(([, quoted, range, bare]) =>
    quoted === undefined
      ? { candidates: toCandidates(bare!), isQuoted: false }
      : { candidates: [{ path: quoted, range: toRange(range) }], isQuoted: true },
  )
}

const MENTION = /(?<=^|[\s([{])@(?:"([^"\n]+)"(?::(\d+(?:-\d+)?)(?!\w))?|([^\s"@]+))/g

function toCandidates(word: string): MentionCandidate[] {
  const bare = word.replace(/[.,;:!?)\]}'`>]+$/, '')
  const words = bare === '' || bare === word ? [word] : [word, bare]
  return words.flatMap((path) => {
    const found = /^(.+):(\d+(?:-\d+)?)$/.exec(path)
    const whole: MentionCandidate = { path, range: undefined }
    return found ? [whole, { path: found[1]!, range: toRange(found[2]) }] : [whole]
  })
}

function toRange(lines: string | undefined): MentionCandidate['range'] {
  if (lines === undefined) return undefined
  const [from = 1, to = from] = lines.split('-').map(Number)
  return { from: Math.max(1, from), to }
}
