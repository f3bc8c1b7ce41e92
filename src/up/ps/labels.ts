import { toServiceLabel } from '../names.ts'

/** Where services are told apart: a home, and the one people usually have. */
export interface LabelContext {
  home: string
  usualHome: string
}

/** What people call the service of a label; undefined for that of another home, and for what is no label of ours. */
export function parseServiceLabel(label: string, place: LabelContext): string | undefined {
  const [before = '', after = ''] = toServiceLabel('\0', place).split('\0')
  if (!label.startsWith(before) || !label.endsWith(after)) return undefined
  const name = label.slice(before.length, after === '' ? undefined : -after.length)
  return /^[a-z0-9-]+$/.test(name) ? name : undefined
}
