/** A path that a message names with `@`. */
export interface Mention {
  /** The possible meanings, likeliest first: a full stop after a name is seldom part of it. */
  candidates: readonly MentionCandidate[]
  /** Whether it is quoted, and therefore certainly a path. */
  isQuoted: boolean
}

/** A possible meaning of a mention. */
export interface MentionCandidate {
  path: string
  /** A range of lines, counted from 1, both ends included. */
  range: { from: number; to: number } | undefined
}

/**
 * Finds the mentions in a text: `@path` or `@"a path"`, each optionally followed by `:10` or `:10-20` for
 * lines; in order of appearance.
 */
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
