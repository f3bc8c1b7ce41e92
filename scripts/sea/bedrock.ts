import { type Patch, replaceOnly } from './patch.ts'

/** @ai-sdk/amazon-bedrock without the provider it makes of the environment while it loads: nobody uses that. */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]@ai-sdk[\\/]amazon-bedrock[\\/]dist[\\/]index\.js$/, patch: withoutDefault },
]

/** That module with an undefined default provider. */
export function withoutDefault(module: string): string | undefined {
  return replaceOnly(module, 'var amazonBedrock = createAmazonBedrock();', 'var amazonBedrock;')
}
