/** How long something has lasted since a time of RFC 3339, as people say it; `-` when there is none. */
export function formatAge(since: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(since)) / 1000)
  if (!Number.isFinite(seconds)) return '-'
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / size)}${unit}`
}

/** Bytes as megabytes, as `daemon status` gives them; `-` when they are not known. */
export function formatMegabytes(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${Math.round(bytes / 1_000_000)} MB`
}

/** `1 process`, `2 processes`. */
export function pluralize(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`
}

/** With a comma between thousands, whatever the language of the system. */
export function groupDigits(amount: number): string {
  return amount.toLocaleString('en')
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
]
