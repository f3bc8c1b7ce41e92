import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import type { AskKind, AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import { colorize } from '../color.ts'
import { labelRows, quoteWithBar, type TerminalStyle } from './layout.ts'

interface QuestionStyle {
  style: TerminalStyle
  isFree: boolean
  freeTextKey?: number | undefined
  kind: AskKind
}

/**
 * Renders a question for a terminal, with its options and how to answer, as lines that each end with a line
 * break.
 */
export function questionText(
  { question, options, multiSelect }: AskQuestion,
  { style, isFree, freeTextKey, kind }: QuestionStyle,
): string {
  const keys = optionKeys(options, kind)
  const rows = options.map(({ label, description }, at) => {
    const about = description === '' ? label : `${label} · ${description}`
    return labelRows(keys[at]!, sanitizeLine(about), style)
  })
  const words = freeTextKey === undefined ? [] : labelRows(`${freeTextKey}`, 'your own words', style)
  const lines = [
    ...quoteWithBar(sanitize(question).replaceAll('\t', ' '), { style, maxRows: Number.POSITIVE_INFINITY }),
    ...rows.flat(),
    ...words,
  ]
  const how = answerHint({ options, multiSelect }, keys, freeTextKey === undefined ? isFree : freeTextKey)
  return `${[...lines, colorize(how, 'dim', style.color)].join('\n')}\n`
}

/**
 * Parses a typed line: returns a label, several labels joined by ", ", or where free text is allowed the text
 * itself; undefined for anything else.
 */
export function readAnswer(
  line: string,
  { options, multiSelect }: AskQuestion,
  { isFree, kind }: { isFree: boolean; kind: AskKind },
): string | undefined {
  const text = sanitize(line).trim()
  if (text === '') return undefined
  const keys = optionKeys(options, kind)
  const words = multiSelect ? text.split(/[\s,]+/).filter((word) => word !== '') : [text]
  const chosen = words.map((word) => (word === '' ? undefined : options[keys.indexOf(word)]?.label))
  const labels = chosen.filter((label) => label !== undefined)
  if (labels.length === chosen.length) return [...new Set(labels)].join(', ')
  const typed = options.find(({ label }) => label.toLowerCase() === text.toLowerCase())
  if (typed) return typed.label
  return isFree && !looksLikeKeys(words, options) ? text : undefined
}

/** Treats numbers that belong to no option as typos, not as free text. */
function looksLikeKeys(words: readonly string[], options: AskQuestion['options']): boolean {
  return options.length > 0 && words.every((word) => /^\d+$/.test(word))
}

function answerHint(
  { options, multiSelect }: Pick<AskQuestion, 'options' | 'multiSelect'>,
  keys: readonly string[],
  isFree: boolean | number,
): string {
  const isTyped = isFree === true
  if (options.length === 0) return `${isTyped ? 'type an answer' : `${isFree} answers`} · Ctrl+D gives none`
  const [first = '', last = ''] = [keys[0], typeof isFree === 'number' ? `${isFree}` : keys.at(-1)]
  const isGapless = Number(last) - Number(first) === keys.length - (typeof isFree === 'number' ? 0 : 1)
  const numbers = multiSelect
    ? `one or several, such as ${first},${last}`
    : `${first} ${isGapless ? 'to' : 'or'} ${last}`
  const key = first === '' ? 'a label' : numbers
  return [key, ...(isTyped ? ['or your own words'] : []), 'Ctrl+D gives none'].join(' · ')
}
