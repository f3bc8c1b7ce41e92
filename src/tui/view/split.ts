import type { OpenText } from '../state/types.ts'

/** What a text came to: parts that will not change any more, and the rest. */
export interface Split {
  closed: readonly { text: string; continues: boolean }[]
  text: string
  carry: string
}

/** Takes the closed blocks off the front of an open Markdown text; all of it when `isOver`. */
export function splitClosed({ text, carry }: Pick<OpenText, 'text' | 'carry'>, isOver: boolean): Split {
  if (isOver) return { closed: text === '' ? [] : [{ text, continues: carry !== '' }], text: '', carry: '' }
  return { closed: [], text, carry }
}
