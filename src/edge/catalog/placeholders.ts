/** The directories that the default of a parameter may name. */
export const PLACES = ['CRABTALK_PROJECT_DIR', 'CRABTALK_HOME', 'HOME'] as const

/** The directories of an installation, by the name of their placeholder; absolute. */
export type InstallPlaces = Readonly<Record<(typeof PLACES)[number], string>>

/** Returns the names of the placeholders in a text, each once: `DIR` for `${DIR}`. */
export function findPlaceholders(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name]) => name!))]
}

/** Replaces the placeholders in a text; those without a value stay. */
export function replacePlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(PLACEHOLDER, (whole: string, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : whole,
  )
}

/** Replaces the texts in a value of TOML, such as a table of lists. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]))
}

const PLACEHOLDER = /\$\{([^}]*)\}/g
