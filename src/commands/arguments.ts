/** Arguments in cac's notation as people read them: `[...words]` becomes `[words…]`. */
export function formatArgumentNotation(args: string): string {
  return args.replaceAll(/([<[])\.\.\.(\w+)([>\]])/g, '$1$2…$3')
}
