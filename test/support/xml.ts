import { SaxesParser } from 'saxes'

/** An element of an XML document. */
export interface XmlElement {
  name: string
  attributes: Readonly<Record<string, string>>
  /** The text directly in it, without that of its children. */
  text: string
  children: XmlElement[]
}

/** Parses a document and returns its root; throws when it is not well-formed. */
export function parseXml(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, text: '', children: [] }
  const open = [root]
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', (reason) => {
    throw reason
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, text: '', children: [] }
    open.at(-1)!.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => open.pop())
  parser.on('text', (piece) => {
    open.at(-1)!.text += piece
  })
  parser.write(text).close()
  return root.children[0]!
}

/** Returns the element at a path of names, from the root down. */
export function elementAt(root: XmlElement, ...path: readonly string[]): XmlElement {
  return path.reduce((element, name) => {
    const found = element.children.filter((child) => child.name === name)
    if (found.length !== 1) throw new Error(`${element.name} has ${found.length} of ${name}`)
    return found[0]!
  }, root)
}

/** Converts a property list to JavaScript values (plist(5), without dates and data). */
export function parsePlist(text: string): unknown {
  const root = parseXml(text)
  if (root.name !== 'plist' || root.children.length !== 1) throw new Error('no property list')
  return toValue(root.children[0]!)
}

function toValue({ name, text, children }: XmlElement): unknown {
  switch (name) {
    case 'string':
      return text
    case 'integer':
      return Number(text)
    case 'true':
    case 'false':
      return name === 'true'
    case 'array':
      return children.map(toValue)
    case 'dict':
      return Object.fromEntries(
        children.flatMap((key, index) =>
          index % 2 === 0 ? [[keyText(key), toValue(children[index + 1]!)]] : [],
        ),
      )
    default:
      throw new Error(`${name} is nothing of a property list`)
  }
}

function keyText({ name, text }: XmlElement): string {
  if (name !== 'key') throw new Error(`${name} stands where a key is due`)
  return text
}
