import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keysSection, slashSection, vimSection } from './docs/chat.ts'
import { commandsSection } from './docs/commands.ts'
import { agentSection, configSection } from './docs/configuration.ts'
import { errorsSection } from './docs/errors.ts'
import { classesSection, operationsSection } from './docs/permissions.ts'
import { providersSection } from './docs/providers.ts'
import { replaceSections, type Sections } from './docs/sections.ts'

// A standalone program: writes the generated sections of the pages in docs/; with `--check` it changes
// nothing and fails unless they are up to date.
const FOLDER = join(import.meta.dirname, '../docs')

/** The generators of the sections of each page. */
const PAGES: Readonly<Record<string, Sections>> = {
  'commands.md': { commands: commandsSection },
  'configuration.md': { providers: providersSection, config: configSection, agent: agentSection },
  'chat.md': { keys: keysSection, slash: slashSection, vim: vimSection },
  'scripting.md': { errors: errorsSection },
  'permissions.md': { classes: classesSection, operations: operationsSection },
}

const isCheck = process.argv.includes('--check')
for (const [page, sections] of Object.entries(PAGES)) {
  const path = join(FOLDER, page)
  const before = await readFile(path, 'utf8')
  const after = replaceSections(page, before, sections)
  if (after === before) continue
  if (!isCheck) await writeFile(path, after)
  else {
    console.error(`docs/${page} is stale: run npm run docs`)
    process.exitCode = 1
  }
}
