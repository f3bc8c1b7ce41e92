import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { FileIssue } from '../../core/config/validation-issue.ts'
import { BUNDLED_TEMPLATES } from './bundled.generated.ts'
import { readTemplate, type Template } from './template.ts'

/** The servers that can be installed by their id. */
export interface Catalog {
  /** The templates by category and id; those of the user replace bundled ones of the same id. */
  templates: readonly Template[]
  /** The problems of the user's templates, which are left out. */
  problems: readonly FileIssue[]
}

/** Reads the bundled templates and those of a folder, which need not exist. Throws `storage`. */
export async function readCatalog(folder: string): Promise<Catalog> {
  const bundled = Object.entries(BUNDLED_TEMPLATES).map(([id, text]) => checkTemplate(`${id}.toml`, text))
  const own = await readFolder(folder)
  const templates = new Map(
    [...bundled, ...own].flatMap(({ template }) => (template ? [[template.id, template]] : [])),
  )
  return {
    templates: [...templates.values()].sort(byCategory),
    problems: own.flatMap(({ problems }) => problems),
  }
}

/** Returns the templates in which every word of a query occurs, ignoring case. */
export function searchTemplates(templates: readonly Template[], query: string): Template[] {
  const words = query.toLowerCase().split(/\s+/)
  return templates.filter(({ id, name, description, category, tags = [] }) => {
    const text = [id, name, description, category, ...tags].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Says in words what a server needs before it can be used: `key`, `login`, `values`; `-` for nothing. */
export function describeNeeds({ credentials = [], oauth, parameters = [] }: Template): string {
  const needs = [
    ...(credentials.some(({ required }) => required !== false) ? ['key'] : []),
    ...(oauth ? ['login'] : []),
    ...(parameters.some((one) => one.default === undefined) ? ['values'] : []),
  ]
  return needs.join(', ') || '-'
}

/** Finds a template. Throws `missing` with the nearest id, and `config` when its file is not valid. */
export function findTemplate({ templates, problems }: Catalog, id: string): Template {
  const found = templates.find((template) => template.id === id)
  if (found) return found
  const broken = problems.find(({ file }) => basename(file, '.toml') === id)
  if (broken) {
    throw new CrabError(
      'config',
      `Cannot use the template ${id}: ${broken.file}:${broken.line}: ${broken.message}`,
      {
        ...(broken.hint !== undefined && { hint: broken.hint }),
      },
    )
  }
  const ids = templates.map((template) => template.id)
  const [similar] = searchTemplates(templates, id)
  const hint = didYouMean(id, ids) ?? (similar && `did you mean "${similar.id}"?`)
  throw new CrabError('missing', `Cannot find "${id}" in the catalog`, {
    hint: hint ?? 'crabtalk mcp catalog lists all servers',
  })
}

interface TemplateFile {
  template?: Template
  problems: readonly FileIssue[]
}

async function readFolder(folder: string): Promise<TemplateFile[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.toml')).sort()
    return await Promise.all(
      names.map(async (name) =>
        checkTemplate(`mcp/catalog/${name}`, await readFile(join(folder, name), 'utf8')),
      ),
    )
  } catch (reason) {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot read the templates of ${folder}`, reason)
  }
}

/** Reads a template, whose id must be the name of its file. */
function checkTemplate(file: string, text: string): TemplateFile {
  const outcome = readTemplate(file, text)
  if (!outcome.ok) return { problems: outcome.problems }
  const { id } = outcome.value
  if (id === basename(file, '.toml')) return { template: outcome.value, problems: [] }
  const problem = {
    file,
    line: 1,
    column: undefined,
    key: 'id',
    message: `"id" is ${id}, and not the name of the file`,
  }
  return { problems: [{ ...problem, hint: `rename the file to ${id}.toml` }] }
}

function byCategory(a: Template, b: Template): number {
  if (a.category !== b.category) return a.category < b.category ? -1 : 1
  return a.id < b.id ? -1 : 1
}
