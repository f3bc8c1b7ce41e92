import type { CommandHandler } from '../../../cli/command.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { printJson, printTable } from '../../../cli/print.ts'
import { VERSION } from '../../../core/base/version.ts'
import { KNOWN_SERVICES } from '../../../up/names.ts'
import { brokenPackages, installedServices } from '../../../up/packages/installed.ts'

/** `crabup list`: the built-in components and the pulled ones. */
export const listComponentsCommand: CommandHandler = async ({ options, host }) => {
  const paths = resolvePaths(host)
  const rows = [...builtIn(), ...installedServices(paths).map(toRow)]
  if (options.has('json')) printJson(host, rows)
  else {
    const header = ['NAME', 'VERSION', 'PACKAGE', 'DESCRIPTION']
    const cells = rows.map((row) => [row.name, row.version, row.package ?? '(built in)', row.description])
    await printTable(host, header, cells)
  }
  const broken = brokenPackages(paths)
  for (const name of broken) {
    host.stderr.write(`crabup: ${name} is incomplete: pull it again, or remove it with crabup rm ${name}\n`)
  }
  return broken.length > 0 ? 1 : 0
}

interface Row {
  name: string
  version: string
  package: string | null
  description: string
  built_in: boolean
  origin: string | null
  source: string | null
  publisher: string | null
  installed_at: string | null
  script: string | null
}

function builtIn(): Row[] {
  const nothing = {
    package: null,
    origin: null,
    source: null,
    publisher: null,
    installed_at: null,
    script: null,
  }
  return KNOWN_SERVICES.filter((one) => one.package === undefined).map(({ name, description }) => ({
    name,
    version: VERSION,
    description,
    built_in: true,
    ...nothing,
  }))
}

function toRow(one: ReturnType<typeof installedServices>[number]): Row {
  const { name, version, description, origin, source, publisher, installedAt, script } = one
  return {
    name,
    version,
    package: one.package,
    description,
    built_in: false,
    origin,
    source,
    publisher: publisher ?? null,
    installed_at: installedAt,
    script,
  }
}
