import { paint, type TextStyle } from '../style.ts'

/**
 * Receives the tokens of highlight.js as an `__emitter` and paints them, which costs a fraction of its HTML.
 * It is created by highlight.js for each text, and for each text of another language within it.
 */
export class ScopePainter {
  readonly #open: (TextStyle | undefined)[] = []
  readonly #pieces: Piece[] = []
  #text = ''

  addText(text: string): void {
    this.#text += text
  }

  startScope(scope: string): void {
    this.#endPiece()
    this.#open.push(findStyle(scope))
  }

  endScope(): void {
    this.#endPiece()
    this.#open.pop()
  }

  openNode(scope: string): void {
    this.startScope(scope)
  }

  closeNode(): void {
    this.endScope()
  }

  /** Adds the tokens of a text in another language. Those without a style of their own get that around them. */
  __addSublanguage(inner: ScopePainter): void {
    this.#endPiece()
    inner.#endPiece()
    const around = this.#style
    for (const { text, style = around } of inner.#pieces) this.#pieces.push({ text, style })
  }

  finalize(): void {
    this.#endPiece()
  }

  /** Returns the painted text, which highlight.js gives as the value of its result. */
  toHTML(): string {
    return this.#pieces.map(({ text, style }) => (style ? paint(text, true, style) : text)).join('')
  }

  get #style(): TextStyle | undefined {
    return this.#open.findLast(Boolean)
  }

  #endPiece(): void {
    if (this.#text !== '') this.#pieces.push({ text: this.#text, style: this.#style })
    this.#text = ''
  }
}

interface Piece {
  text: string
  style: TextStyle | undefined
}

/** Returns the style of a scope such as `title.function`: that of its narrowest part with a style. */
function findStyle(scope: string): TextStyle | undefined {
  const known = STYLES.get(scope)
  if (known || !scope.includes('.')) return known
  return scope
    .split('.')
    .map((name) => STYLES.get(name))
    .findLast(Boolean)
}

const STYLES: ReadonlyMap<string, TextStyle> = new Map<string, TextStyle>([
  ['keyword', 'keyword'],
  ['selector-tag', 'keyword'],
  ['doctag', 'keyword'],
  ['name', 'keyword'],
  ['string', 'string'],
  ['regexp', 'string'],
  ['link', 'string'],
  ['number', 'number'],
  ['literal', 'number'],
  ['symbol', 'number'],
  ['bullet', 'number'],
  ['escape', 'number'],
  ['type', 'type'],
  ['class', 'type'],
  ['built_in', 'type'],
  ['selector-class', 'type'],
  ['title', 'function'],
  ['function', 'function'],
  ['section', 'function'],
  ['attr', 'function'],
  ['attribute', 'function'],
  ['property', 'function'],
  ['selector-id', 'function'],
  ['comment', 'comment'],
  ['quote', 'comment'],
  ['meta', 'dim'],
  ['prompt', 'dim'],
  ['addition', 'added'],
  ['deletion', 'removed'],
  ['strong', 'bold'],
  ['emphasis', 'italic'],
])
