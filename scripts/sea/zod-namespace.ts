import type { Patch } from './patch.ts'

/**
 * Lets the packages of the AI SDK import zod as a namespace, of which esbuild keeps what is used. They import the object
 * `z`, and would bring along what reads JSON Schema, template literals and the rest.
 */
export const PATCHES: readonly Patch[] = [
  {
    filter:
      /[\\/]@ai-sdk[\\/](anthropic|openai|openai-compatible|google|amazon-bedrock)[\\/]dist[\\/](internal[\\/])?index\.js$/,
    patch: importNamespaces,
  },
]

const IMPORT = /^import \{ z(?: as (\w+))? \} from "zod\/v4";$/gm

/** The module with every `import { z }` as `import * as z`; undefined when it has none. */
export function importNamespaces(module: string): string | undefined {
  const ours = module.replaceAll(IMPORT, (_, name = 'z') => `import * as ${name} from "zod/v4";`)
  return ours === module ? undefined : ours
}
