import { posix } from 'node:path'
import * as z from 'zod/mini'
import { nameProblem } from '../../core/config/agent-schema.ts'
import { checkValue, filledString, strictTable } from '../../core/config/schema.ts'
import { parseToml, toFileIssues } from '../../core/config/toml.ts'
import { configError, type Result } from '../../core/config/validation-issue.ts'
import { isServiceName } from '../packages/installed.ts'
import { isNpmVersion } from '../packages/npm-version.ts'

/** The name of the file at the root of a package that carries skills and agents. */
export const PACKAGE_MANIFEST = 'crabtalk.toml'

const path = () =>
  filledString().check(z.refine(isInside, 'must be a path in this package, with / and without ..'))
const skillPath = () =>
  path().check(
    z.refine(
      (one) => SKILL_FOLDER.test(posix.basename(one)),
      'must end with a name of letters, digits, . _ or -',
    ),
  )
const agentPath = () =>
  path().check(
    z.refine(
      (one) => one.endsWith('.toml') && nameProblem(posix.basename(one, '.toml')) === undefined,
      'must be NAME.toml, where NAME is a valid agent name',
    ),
  )

const schema = strictTable({
  name: z
    .string()
    .check(z.refine(isServiceName, 'must have at most 32 characters: a-z, 0-9 and single hyphens')),
  version: z.string().check(z.refine(isNpmVersion, 'must be a version such as 1.2.0')),
  description: z._default(z.string().check(z.maxLength(1_024)), ''),
  skills: z._default(z.array(skillPath()).check(z.maxLength(100)), []),
  agents: z._default(z.array(agentPath()).check(z.maxLength(100)), []),
})

/**
 * The contents that a package declares; paths are relative to its root, without a leading `./` or a trailing
 * `/`.
 */
export type PackageManifest = z.infer<typeof schema>

/** Parses a manifest. Throws `config`, which names the lines. */
export function readManifest(text: string): PackageManifest {
  const outcome = check(text)
  if (outcome.ok) return outcome.value
  throw configError(outcome.problems)
}

function check(text: string): Result<PackageManifest> {
  const document = parseToml(PACKAGE_MANIFEST, text)
  if (!document.ok) return document
  const outcome = checkValue(schema, document.value.table)
  if (!outcome.ok) return { ok: false, problems: toFileIssues(document.value, outcome.problems) }
  const { skills, agents, ...rest } = outcome.value
  const [cleanSkills, cleanAgents] = [skills, agents].map((paths) => paths.map(clean))
  const twice =
    twiceNamed([...cleanSkills!], (one) => posix.basename(one).toLowerCase()) ??
    twiceNamed([...cleanAgents!], (one) => posix.basename(one).toLowerCase())
  const empty = skills.length + agents.length === 0
  if (twice === undefined && !empty)
    return { ok: true, value: { ...rest, skills: cleanSkills!, agents: cleanAgents! } }
  const message = empty
    ? 'it has neither "skills" nor "agents"'
    : `two of its skills or agents are named ${twice}`
  return {
    ok: false,
    problems: [{ file: PACKAGE_MANIFEST, line: 1, column: undefined, key: '', message, hint: undefined }],
  }
}

function twiceNamed(paths: readonly string[], nameOf: (path: string) => string): string | undefined {
  const names = paths.map(nameOf)
  return names.find((name, i) => names.indexOf(name) !== i)
}

function isInside(text: string): boolean {
  return !/^[/~]|^[a-zA-Z]:|[\\\p{C}]/u.test(text) && !text.split('/').includes('..') && clean(text) !== '.'
}

function clean(text: string): string {
  return posix.normalize(text).replace(/\/$/, '')
}

const SKILL_FOLDER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
