/** Keys to type once the terminal has shown something. */
export interface Keystrokes {
  on: RegExp
  type: string
}

/** Types the next keys when the terminal output matches; each pattern is searched after the previous match. */
export function typist(
  keys: readonly Keystrokes[],
  type: (keys: string) => void,
): { wrote(bytes: string): void; isDone(): boolean } {
  const left = [...keys]
  let screen = ''
  return {
    wrote(bytes) {
      screen += bytes
      if (!left[0]?.on.test(screen)) return
      screen = ''
      type(left.shift()!.type)
    },
    isDone: () => left.length === 0,
  }
}
