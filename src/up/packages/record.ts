import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { parseObject } from '../../core/base/json.ts'

const schema = z.object({
  package: z.string(),
  version: z.string(),
  description: z.string(),
  /** The path relative to the folder of the version, with `/`. */
  script: z.string().check(z.refine((path) => !isAbsolute(path) && !path.split(/[\\/]/).includes('..'))),
  runsOnNode: z.boolean(),
  installedAt: z.string(),
  source: z.string(),
  origin: z.enum(['registry', 'tarball', 'folder']),
  publisher: z.exactOptional(z.string()),
  /** Empty in records of versions that were installed before packages could ask for variables. */
  variables: z._default(z.array(z.string()), []),
})

/** The stored description of one version of a component, in that version's folder. */
export type PackageRecord = z.infer<typeof schema>

/** Parses a record; undefined when it is not valid. */
export function parseRecord(text: string): PackageRecord | undefined {
  const outcome = schema.safeParse(parseObject(text))
  return outcome.success ? outcome.data : undefined
}
