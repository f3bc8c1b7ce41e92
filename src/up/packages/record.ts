import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { parseObject } from '../../core/base/json.ts'

const schema = z.object({
  package: z.string(),
  version: z.string(),
  description: z.string(),
  /** Relative to the folder of the version, with `/`. */
  script: z.string().check(z.refine((path) => !isAbsolute(path) && !path.split(/[\\/]/).includes('..'))),
  runsOnNode: z.boolean(),
  installedAt: z.string(),
  source: z.string(),
  origin: z.enum(['registry', 'tarball', 'folder']),
  publisher: z.exactOptional(z.string()),
  /** Versions of before they were asked for have none. */
  variables: z._default(z.array(z.string()), []),
})

/** What a version of a component says of itself, in its folder. */
export type PackageRecord = z.infer<typeof schema>

/** A record from its text; undefined for anything else. */
export function parseRecord(text: string): PackageRecord | undefined {
  const outcome = schema.safeParse(parseObject(text))
  return outcome.success ? outcome.data : undefined
}
