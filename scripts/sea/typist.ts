/** What is typed once the terminal has shown something. */
export interface Keystrokes {
  on: RegExp
  type: string
}

/** Types what is due whenever something is written to a terminal; each pattern is looked for behind the last one's. */
export function typist(
  keys: readonly Keystrokes[],
  type: (keys: string) => void,
): { wrote(bytes: string): void; isDone(): boolean } {
  const left = [...keys]
  let shown = ''
  return {
    wrote(bytes) {
      shown += bytes
      if (!left[0]?.on.test(shown)) return
      shown = ''
      type(left.shift()!.type)
    },
    isDone: () => left.length === 0,
  }
}
