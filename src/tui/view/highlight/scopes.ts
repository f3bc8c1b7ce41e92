import { paint, type TextStyle } from '../style.ts'

/** Converts the HTML that highlight.js produces from clean code to coloured lines. */
export function paintScopes(html: string): string[] {
  const open: (TextStyle | undefined)[] = []
  let out = ''
  for (const piece of html.split(/(<span class="[^"]*">|<\/span>)/)) {
    if (piece.startsWith('<span ')) open.push(findStyle(piece))
    else if (piece === '</span>') open.pop()
    else out += paintText(unescapeHtml(piece), open.findLast(Boolean))
  }
  return out.split('\n')
}

function paintText(text: string, style: TextStyle | undefined): string {
  return style === undefined ? text : paint(text, true, style)
}

function unescapeHtml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity)
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/**
 * Returns the style of a tag such as `<span class="hljs-title function_">`: that of its narrowest scope with
 * a style.
 */
function findStyle(tag: string): TextStyle | undefined {
  const classes = tag.slice('<span class="'.length, -'">'.length).split(' ')
  const scope = classes.map((name) => name.replace(/^hljs-/, '').replace(/_$/, ''))
  return scope.map((name) => STYLES.get(name)).findLast(Boolean)
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
  ['comment', 'dim'],
  ['quote', 'dim'],
  ['meta', 'dim'],
  ['prompt', 'dim'],
  ['addition', 'added'],
  ['deletion', 'removed'],
  ['strong', 'bold'],
  ['emphasis', 'italic'],
])
