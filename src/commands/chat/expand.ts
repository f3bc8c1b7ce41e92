import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { joinBlocks, toBlock, toMessagePart } from '../../cli/message-part.ts'
import { MAX_INPUT_BYTES, readNamedFile, tooLarge } from '../../cli/named-file.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { AttachedFile, ExpandedMessage } from '../../tui/ports.ts'
import type { BaseFolders } from './write-new.ts'

/**
 * Adds to a message the files that it names with `@`: text in blocks after it, as `send -f` formats them, and
 * images as attachments.
 *
 * A mention that looks like a path but cannot be added is reported as a problem. Any other `@` is ignored,
 * and so is everything inside the `pasted` texts, which the user did not type. Fails only when aborted.
 */
export async function expandMentions(
  { text, pasted }: { text: string; pasted: readonly string[] },
  folders: BaseFolders,
  signal: AbortSignal,
): Promise<ExpandedMessage> {
  const blocks: string[] = []
  const attachments: AttachedFile[] = []
  const problems: string[] = []
  const seen = new Set<string>()
  let bytes = Buffer.byteLength(text)
  for (const mention of findMentions(withoutPastes(text, pasted)).slice(0, MAX_MENTIONS)) {
    signal.throwIfAborted()
    try {
      const found = await resolveMention(mention, folders)
      const key = found && JSON.stringify([found.absolute, found.candidate.range])
      if (found === undefined || seen.has(key!)) continue
      const { block, image } = await readMention(found, folders, signal)
      const more = Buffer.byteLength(block) + (image?.data.length ?? 0)
      if (bytes + more > MAX_INPUT_BYTES)
        throw tooLarge(`${found.candidate.path} together with the other files`, bytes + more)
      seen.add(key!)
      bytes += more
      blocks.push(block)
      if (image) attachments.push(image)
    } catch (reason) {
      signal.throwIfAborted()
      problems.push(toCrabError(reason).message)
    }
  }
  return { content: joinBlocks([text, ...blocks]), attachments, problems }
}

/** Blanks out pasted texts, longest first, because a longer paste may contain a shorter one. */
function withoutPastes(text: string, pasted: readonly string[]): string {
  return pasted
    .map((paste) => paste.trimEnd()) // the sent text is trimmed, too
    .filter((paste) => paste !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, paste) => rest.replaceAll(paste, ' '), text)
}

/** The maximum number of mentions that are resolved; a message may contain any number. */
const MAX_MENTIONS = 200

interface ResolvedMention {
  candidate: MentionCandidate
  absolute: string
  stats: Stats
}

/** Resolves a mention to a file; undefined when it is not meant as one. Throws `missing` when it was. */
async function resolveMention(
  { candidates, isQuoted }: Mention,
  folders: BaseFolders,
): Promise<ResolvedMention | undefined> {
  for (const candidate of candidates) {
    const absolute = toAbsolute(candidate.path, folders)
    const stats = await stat(absolute).catch(() => undefined)
    if (stats) return { candidate, absolute, stats }
  }
  const { path } = candidates.at(-1)!
  if (!isQuoted && !(await looksLikePath(path, folders))) return undefined
  throw new CrabError('missing', `Cannot add ${path}: it does not exist`)
}

/** Whether a mention is meant as a path; packages, handles and decorators begin with `@`, too. */
async function looksLikePath(path: string, folders: BaseFolders): Promise<boolean> {
  if (/^(?:~?\/|\.{1,2}\/)/.test(path)) return true
  if (RESOURCE.test(path)) return false
  if (!path.includes('/')) return FILE_NAME.test(path)
  const parent = await stat(dirname(toAbsolute(path, folders))).catch(() => undefined)
  return parent?.isDirectory() ?? false
}

/** Matches the name of an MCP server's resource after the `@`. */
const RESOURCE = /^[a-z0-9][a-z0-9_-]{0,31}:(?!\d+(?:-\d+)?$)/

const FILE_NAME =
  /\.(?:c|cc|cpp|cs|css|csv|go|h|hpp|html|java|jpe?g|[cm]?jsx?|json|jsonl|kt|lock|log|md|php|png|py|rb|rs|sh|sql|svg|swift|toml|[cm]?tsx?|txt|webp|xml|ya?ml)$/i

function toAbsolute(path: string, { cwd, home }: BaseFolders): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(cwd, path)
}

interface MentionContent {
  block: string
  image?: AttachedFile
}

async function readMention(
  { candidate, absolute, stats }: ResolvedMention,
  { cwd }: BaseFolders,
  signal: AbortSignal,
): Promise<MentionContent> {
  const { path, range } = candidate
  if (stats.isDirectory()) return { block: await toListing(path, absolute) }
  if (!stats.isFile())
    throw new CrabError('invalid', `Cannot add ${path}: it is neither a file nor a directory`)
  if (stats.size > MAX_INPUT_BYTES) throw tooLarge(path, stats.size)
  const { image, text = '' } = toMessagePart(
    await readNamedFile({ path: absolute }, { cwd: () => cwd }, signal),
    path,
  )
  if (image) return { block: '', image: { ...image } }
  if (range === undefined) return { block: toBlock({ name: path, text }) || `${path} is empty.` }
  const shown = pickLines(text, range)
  if (shown === undefined) throw new CrabError('invalid', `Cannot add ${path}: it has no line ${range.from}`)
  return { block: toBlock({ name: path, text: shown, lines: `${range.from}-${range.to}` }) }
}

function pickLines(text: string, { from, to }: { from: number; to: number }): string | undefined {
  const lines = text.split('\n').slice(from - 1, Math.max(from, to))
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** The maximum number of names in a listing. */
const MAX_NAMES = 200

async function toListing(path: string, folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted()
  const left = names.length - MAX_NAMES
  const lines = [...names.slice(0, MAX_NAMES), ...(left > 0 ? [`[${left} more]`] : [])]
  return [`<folder path="${path}">`, ...lines, '</folder>'].join('\n')
}

/** A path that a message names with `@`. */
interface Mention {
  /** The possible meanings, likeliest first: a full stop after a name is seldom part of it. */
  candidates: readonly MentionCandidate[]
  /** Whether it is quoted, and therefore certainly a path. */
  isQuoted: boolean
}

/** A possible meaning of a mention. */
interface MentionCandidate {
  path: string
  /** A range of lines, counted from 1, both ends included. */
  range: { from: number; to: number } | undefined
}

/**
 * Finds the mentions in a text: `@path` or `@"a path"`, each optionally followed by `:10` or `:10-20` for
 * lines; in order of appearance.
 */
function findMentions(text: string): Mention[] {
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
