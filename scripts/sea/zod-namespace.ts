import type { Patch } from './patch.ts'

/**
 * Makes the packages of the AI SDK import zod as a namespace, of which esbuild keeps only what is used. The
 * object `z` they import would include the JSON Schema reader, template literals and more.
 */
export const PATCHES: readonly Patch[] = [
  {
    filter:
      /[\\/]@ai-sdk[\\/](anthropic|openai|openai-compatible|google|amazon-bedrock)[\\/]dist[\\/](internal[\\/])?index\.js$/,
    patch: importNamespaces,
  },
]

const IMPORT = /^import \{ z(?: as (\w+))? \} from "zod\/v4";$/gm

/** Replaces every `import { z }` of a module by `import * as z`; undefined when it has none. */
export function importNamespaces(module: string): string | undefined {
  const ours = module.replaceAll(IMPORT, (_, name = 'z') => `import * as ${name} from "zod/v4";`)
  return ours === module ? undefined : ours
}
