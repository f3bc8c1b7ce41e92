import { type Patch, replaceOnly } from './patch.ts'

/**
 * Patches @ai-sdk/amazon-bedrock not to create its default provider from the environment when it is loaded,
 * which is unused.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]@ai-sdk[\\/]amazon-bedrock[\\/]dist[\\/]index\.js$/, patch: withoutDefault },
]

/** Returns the module with an undefined default provider. */
export function withoutDefault(module: string): string | undefined {
  return replaceOnly(module, 'var amazonBedrock = createAmazonBedrock();', 'var amazonBedrock;')
}
