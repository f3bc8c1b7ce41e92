import type { CommandHandler } from '../../cli/command.ts'
import type { LicensedComponent, Notices } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'

/** Runs `crabtalk licenses`. */
export const licensesCommand: CommandHandler = async ({ options, host }) => {
  const notices = await host.notices()
  if (!notices) throw sourceBuildError()
  const name = options.args[0]
  const components = name === undefined ? notices.components : findComponents(notices, name)
  const withTexts = options.has('text') || name !== undefined
  if (options.has('json')) {
    return printJson(
      host,
      components.map((component) => toJson(component, withTexts ? notices.texts : undefined)),
    )
  }
  if (withTexts) host.stdout.write(renderTexts(components, notices.texts))
  else {
    const rows = components.map(({ name, version, license }) => [name, version, license])
    await printTable(host, ['NAME', 'VERSION', 'LICENSE'], rows)
  }
  return 0
}

function sourceBuildError(): CrabError {
  return new CrabError(
    'missing',
    'Cannot show licenses: this program runs from source, and the list is made when it is built',
    { hint: 'npm run build, then dist/crabtalk licenses, or read dist/THIRD-PARTY-NOTICES' },
  )
}

/** Finds the components of that name, which may be several versions of a package. */
function findComponents({ components }: Notices, name: string): LicensedComponent[] {
  const found = components.filter((component) => component.name.toLowerCase() === name.toLowerCase())
  if (found.length > 0) return found
  const suggestion = didYouMean(
    name,
    components.map((component) => component.name),
  )
  throw new CrabError('missing', `Cannot show the license of ${name}: nothing with that name is included`, {
    hint: suggestion ?? 'crabtalk licenses lists what is included',
  })
}

function toJson(
  { name, version, license, purl, texts: numbers }: LicensedComponent,
  texts: readonly string[] | undefined,
): object {
  return {
    name,
    version,
    license,
    purl,
    ...(texts && { texts: numbers.map((number) => texts[number]) }),
  }
}

/** Renders every text once, below the names of the components it belongs to. */
function renderTexts(components: readonly LicensedComponent[], texts: readonly string[]): string {
  const sections = texts.flatMap((text, number) => {
    const owners = components.filter((component) => component.texts.includes(number))
    if (owners.length === 0) return []
    const heads = owners.map(({ name, version, license }) => `${name} ${version} (${license})`)
    return [`${heads.join('\n')}\n\n${text.trimEnd()}\n`]
  })
  return sections.join(`\n${'-'.repeat(80)}\n\n`)
}
