import type { Component } from './component.ts'

const RULE = '='.repeat(80)

/** Renders THIRD-PARTY-NOTICES: a list of all components, then every text once, with the components it belongs to. */
export function renderNotices(product: string, components: readonly Component[]): string {
  const owners = new Map<string, string[]>()
  for (const { name, version, texts } of components) {
    const label = `${name} ${version}`
    for (const text of texts) owners.set(text, [...(owners.get(text) ?? []), label])
  }
  const list = components.map(({ name, version, license }) => `${name} ${version}  (${license})`)
  const sections = [...owners].map(([text, labels]) => `${RULE}\n${labels.join('\n')}\n${RULE}\n\n${text}`)
  return [
    `${product} contains the following third-party software. The license of each, and its notice where it has\none, is below.\n`,
    `${list.join('\n')}\n`,
    ...sections,
  ].join('\n')
}
