import { readFile } from 'node:fs/promises'

/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
  /** 1-based line of its first line. */
  line: number
}

/** A block to run, and its expected output where the page shows it. */
export interface Step {
  block: Block
  expected: Block | undefined
}

/** Every fenced block of a page, in order. */
export async function readBlocks(path: string): Promise<Block[]> {
  const text = await readFile(path, 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(({ 1: language = '', 2: body = '', index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split('\n').length + 1,
  }))
}

/** Returns the `sh` blocks in order, each with the `text` block right after it, which shows its output. */
export function toSteps(blocks: readonly Block[]): Step[] {
  return blocks.flatMap((block, i) => {
    if (block.language !== 'sh') return []
    const next = blocks[i + 1]
    return [{ block, expected: next?.language === 'text' ? next : undefined }]
  })
}

/** Returns the `text` blocks that do not belong to a command. */
export function strayTexts(blocks: readonly Block[]): Block[] {
  return blocks.filter(({ language }, i) => language === 'text' && blocks[i - 1]?.language !== 'sh')
}

/** Whether text matches a block: `…` stands for any text, and alone on a line also for any number of lines. */
export function matches(expected: string, actual: string): boolean {
  const lines = expected
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line.trim() === '…') return '(?:.*\n)*?'
      return `${line
        .trimEnd()
        .split('…')
        .map((part) => RegExp.escape(part))
        .join('.*')}[ \\t]*\n`
    })
  return new RegExp(`^${lines.join('')}$`).test(`${actual.trimEnd()}\n`)
}
