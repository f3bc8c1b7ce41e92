import { readFile } from 'node:fs/promises'

/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
  /** 1-based line of its first line. */
  line: number
}

/** A block that is run, and what it must print where the page says so. */
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

/** The `sh` blocks in order; a `text` block right behind one says what it prints. */
export function toSteps(blocks: readonly Block[]): Step[] {
  return blocks.flatMap((block, i) => {
    if (block.language !== 'sh') return []
    const next = blocks[i + 1]
    return [{ block, expected: next?.language === 'text' ? next : undefined }]
  })
}

/** `text` blocks that say of no command what it prints. */
export function strayTexts(blocks: readonly Block[]): Block[] {
  return blocks.filter(({ language }, i) => language === 'text' && blocks[i - 1]?.language !== 'sh')
}

/** Whether text is what a block says: `…` stands for anything, alone on a line also for no line or many. */
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
