import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import { z } from 'zod'
import type { Requirement } from './suite.ts'

/** The scenarios that are known to fail, and why. */
export interface Baseline {
  reasonFor(requirement: Requirement): string | undefined
}

/**
 * Reads a TOML file with a table for each revision: `"scenario" = "why it does not pass"`. Throws for a
 * scenario that the revision does not require.
 */
export async function readBaseline(file: string, demanded: readonly Requirement[]): Promise<Baseline> {
  const tables = FILE.parse(parse(await readFile(file, 'utf8')))
  const isDemanded = new Set(demanded.map(({ revision, scenario }) => `${revision} ${scenario}`))
  for (const [revision, table] of Object.entries(tables))
    for (const scenario of Object.keys(table))
      if (!isDemanded.has(`${revision} ${scenario}`))
        throw new Error(`${file} lists ${scenario}, which ${revision} does not demand`)
  return { reasonFor: ({ revision, scenario }) => tables[revision]?.[scenario] }
}

const FILE = z.record(z.string(), z.record(z.string(), z.string().min(1)))
