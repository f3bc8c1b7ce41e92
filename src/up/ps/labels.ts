import { toServiceLabel } from '../names.ts'

/** The home that a label belongs to, and the default home. */
export interface LabelContext {
  home: string
  usualHome: string
}

/** Parses the service name from a label; undefined for labels of other homes and of other programs. */
export function parseServiceLabel(label: string, place: LabelContext): string | undefined {
  const [before = '', after = ''] = toServiceLabel('\0', place).split('\0')
  if (!label.startsWith(before) || !label.endsWith(after)) return undefined
  const name = label.slice(before.length, after === '' ? undefined : -after.length)
  return /^[a-z0-9-]+$/.test(name) ? name : undefined
}
