import { toVisible } from '../../../core/base/visible.ts'
import type { PackageFacts } from '../../../up/packages/facts.ts'
import type { PackageOffer } from '../../../up/packages/ports.ts'

/** Renders the facts of a package that is about to be installed: a headline, and a line for each known fact. */
export function factsText({ facts, source, origin, before }: PackageOffer): string {
  const rows: [string, string | undefined][] = [
    ['published', publishedText(facts)],
    ['by', origin === 'registry' ? publisherText(facts, before?.publisher) : undefined],
    ['maintainers', facts.maintainers.join(', ') || undefined],
    ['from', origin === 'registry' ? undefined : source],
    ['size', sizeText(facts)],
    ['needs', facts.dependencies.length > 0 ? facts.dependencies.join(', ') : 'no other packages'],
    ['scripts', facts.scripts.length > 0 ? `${facts.scripts.join(', ')}: not run` : undefined],
    ['asks for', facts.variables.length > 0 ? `${facts.variables.join(', ')} from service.env` : undefined],
    ['signature', describeSignature(facts, origin)],
    ['deprecated', facts.deprecated],
    ['replaces', before && `${before.version} of ${before.installedAt.slice(0, 10)}`],
  ]
  const headline = `${facts.package} ${facts.version}${facts.description && `: ${facts.description}`}`
  const known = rows.filter((row): row is [string, string] => row[1] !== undefined)
  const lines = [headline, ...known.map(([name, text]) => `  ${name.padEnd(WIDTH)}${text}`)]
  return lines.map((line) => `${toVisible(line.replaceAll(/\s*\n\s*/g, ' '))}\n`).join('')
}

/** Formats bytes for display, such as `12.3 kB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(1)} ${['B', 'kB', 'MB', 'GB'][power]}`
}

function publishedText({ publishedAt }: PackageFacts): string | undefined {
  return publishedAt?.slice(0, 10)
}

function publisherText({ publisher }: PackageFacts, before: string | undefined): string {
  if (publisher === undefined) return 'unknown to the registry'
  return before === undefined || before === publisher ? publisher : `${publisher} (before: ${before})`
}

function sizeText({ bytes }: PackageFacts): string | undefined {
  return bytes === undefined ? undefined : bytesText(bytes)
}

function describeSignature(
  { hasSignature, hasProvenance }: PackageFacts,
  origin: PackageOffer['origin'],
): string | undefined {
  if (origin !== 'registry') return undefined
  const what = [
    ...(hasSignature ? ['signed by the registry'] : []),
    ...(hasProvenance ? ['with provenance'] : []),
  ]
  return what.join(', ') || 'none, and no provenance'
}

const WIDTH = 13
