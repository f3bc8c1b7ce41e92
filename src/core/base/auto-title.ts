import { collapseBlanks, sanitize } from './sanitize.ts'
import { isWindowSender } from './sender-class.ts'

/** The columns of the longest automatic title. */
export const MAX_AUTO_TITLE = 48

/**
 * Makes a title of the first message of a conversation: its first sentence or clause, without code blocks and
 * without paths at the start, at most MAX_AUTO_TITLE columns wide; empty for an empty text. Calls no model.
 */
export function toAutoTitle(text: string): string {
  const line = withoutLead(withoutCode(sanitize(text)))
  const sentence = takeSentence(line)
  if (measureColumns(sentence) <= MAX_AUTO_TITLE && !isCutOff(text, sentence)) return trimEnd(sentence)
  return `${takeClause(sentence)}…`
}

/** Returns the title of a conversation, or an automatic one made of the beginning of its first message. */
export function shownTitle({ title, preview }: { title: string; preview: string }): string {
  return title || toAutoTitle(preview)
}

/** Returns the title of a conversation; without one, it names who talks in it. */
export function titleConversation(info: {
  agent: string
  sender: string
  title: string
  preview: string
}): string {
  const { agent, sender } = info
  return shownTitle(info) || (isWindowSender(sender) ? `A chat with ${agent}` : `${agent} with ${sender}`)
}

/** Removes code blocks, and what a shell line of the user printed; text that has nothing else keeps its code. */
function withoutCode(text: string): string {
  const words = text
    .replaceAll(/<shell [^>]*>.*?<\/shell>/gs, ' ')
    .replace(CUT_SHELL_LINE, (_, line: string) => line.replaceAll('\\', ''))
    .replaceAll(ADDED_FILE, ' ')
    .replaceAll(/(`{3,}|~{3,}).*?(\1|$)/gs, ' ')
  const rest = collapseBlanks(words)
  return rest === '' ? collapseBlanks(text.replaceAll(/[`~]{3,}\w*/g, ' ')) : rest
}

/** Matches a file or the standard input that was sent with a message, also where a preview is cut off. */
const ADDED_FILE = /\s<(file path="|stdin>)[\s\S]*?(<\/(file|stdin)>|$)/g

/** Matches a shell line of the user whose output was cut off, in a preview that an earlier version stored. */
const CUT_SHELL_LINE = /^<shell command="((?:[^"\\]|\\.)*)" .*$/s

/** Removes the marks of Markdown, paths and mentions at the start, unless nothing else is left. */
function withoutLead(line: string): string {
  const plain = line.replaceAll(/(\*\*|__|`)/g, '')
  const rest = plain.replace(LEAD, '')
  return rest === '' ? plain : rest
}

/** Matches quote, heading and list marks, mentions such as `@file`, and paths. */
const LEAD = /^(?:[>#*+-]+\s+|\d+[.)]\s+|@\S+\s+|(?:[\w.~-]*|[a-z]:)[/\\]\S*\s+)+/i

/** Returns the first sentence, without a greeting in front of it. */
function takeSentence(line: string): string {
  const [, first = line, rest = ''] = /^(.*?(?:[.!?]+(?=\s)|[。！？]))\s*(.*)$/su.exec(line) ?? []
  const isGreeting = rest !== '' && !first.includes(' ') && measureColumns(first) < MIN_SENTENCE
  return isGreeting ? takeSentence(rest) : first
}

const MIN_SENTENCE = 8

/** Returns the first clause when it says enough, otherwise as many words as fit with an ellipsis. */
function takeClause(sentence: string): string {
  const fitting = takeColumns(sentence, MAX_AUTO_TITLE - 1)
  const clause = /^(.*\S)[,;:–—]\s/su.exec(fitting)?.[1] ?? ''
  if (measureColumns(clause) >= MIN_CLAUSE) return trimEnd(clause)
  const words = fitting.length < sentence.length ? fitting.replace(/\s+\S*$/u, '') : fitting
  return trimEnd(measureColumns(words) >= MIN_CLAUSE ? words : fitting)
}

const MIN_CLAUSE = 20

/** Whether the text is a preview whose end is missing, and the sentence reaches to that end. */
function isCutOff(text: string, sentence: string): boolean {
  return [...text].length === PREVIEW_CHARS && text.trimEnd().endsWith(sentence.slice(-MIN_SENTENCE))
}

/** The length of the previews in listings, in code points. */
const PREVIEW_CHARS = 80

function trimEnd(text: string): string {
  return text.replace(/[\s.,;:–—…-]+$/u, '')
}

function takeColumns(text: string, columns: number): string {
  let taken = ''
  let width = 0
  for (const { segment: grapheme } of segment(text)) {
    width += countColumns(grapheme)
    if (width > columns) break
    taken += grapheme
  }
  return taken
}

function measureColumns(text: string): number {
  let width = 0
  for (const { segment: grapheme } of segment(text)) width += countColumns(grapheme)
  return width
}

function countColumns(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1
}

function segment(text: string): Intl.Segments {
  return new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u
