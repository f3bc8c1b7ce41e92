/** Formats arguments in cac's notation for readers: `[...words]` becomes `[words…]`. */
export function formatArgumentNotation(args: string): string {
  return args.replaceAll(/([<[])\.\.\.(\w+)([>\]])/g, '$1$2…$3')
}
