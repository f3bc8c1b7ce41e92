/** Says in a result, for the model, that the user changed the call: `args` is what ran, as JSON text. */
export function withChangeNote(output: string, args: string): string {
  return `${START}${args}]\n${output}`
}

/**
 * Returns a result for the user, whose call is shown with `args`: without the note when they are what ran, otherwise
 * with a note for readers.
 */
export function withoutChangeNote(output: string, args: string): string {
  const end = output.startsWith(START) ? output.indexOf(']\n', START.length) : -1
  const ran = output.slice(START.length, end)
  if (end < 0 || !isJson(ran)) return output
  const rest = output.slice(end + 2)
  return ran === args ? rest : `You changed this call: ${ran}\n${rest}`
}

const START = '[The user changed this call. It ran with '

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // the arguments have a bracket and a line break, or a tool printed something similar
  }
}
