import type { Token, Tokens } from 'marked'
import { paint } from '../style.ts'

/** Renders inline tokens as colored text; hard and soft breaks become line feeds. */
export function renderInline(tokens: readonly Token[], color: boolean): string {
  return tokens.map((token) => renderPiece(token, color)).join('')
}

function renderPiece(token: Token, color: boolean): string {
  switch (token.type) {
    case 'strong':
      return paint(renderInline(token.tokens ?? [], color), color, 'bold')
    case 'em':
      return paint(renderInline(token.tokens ?? [], color), color, 'italic')
    case 'del':
      return paint(renderInline(token.tokens ?? [], color), color, 'strike')
    case 'codespan':
      return color ? paint(token['text'], color, 'code') : `\`${token['text']}\``
    case 'link':
      return renderLink(token as Tokens.Link, color)
    case 'image':
      return renderImage(token as Tokens.Image, color)
    case 'br':
      return '\n'
    case 'checkbox':
      return ''
    case 'escape':
      return token['text']
    case 'html':
      return token.raw
    default:
      return 'tokens' in token && token.tokens
        ? renderInline(token.tokens, color)
        : unescapeEntities(token.raw)
  }
}

/** Renders a link, with its address after the text unless the text is the address. */
function renderLink({ href, text, tokens }: Tokens.Link, color: boolean): string {
  const label = renderInline(tokens, color)
  if (text === href || href === `mailto:${text}` || href === `http://${text}`)
    return paint(label, color, 'link')
  if (label === '') return paint(href, color, 'link')
  return `${label} (${paint(href, color, 'link')})`
}

function renderImage({ href, text }: Tokens.Image, color: boolean): string {
  return `[${text === '' ? 'image' : `image: ${text}`}] (${paint(href, color, 'link')})`
}

/**
 * Unescapes the few entities that models write. Other numeric entities stay as written, because they could
 * decode to any character.
 */
function unescapeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:lt|gt|amp|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity)
}

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
}
