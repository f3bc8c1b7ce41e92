import { CrabError } from '../../base/errors.ts'
import type { Skill } from '../../skills/scan-skills.ts'

/**
 * A skill as a model reads it. Arguments stand where the body has `$ARGUMENTS`, else behind it, as they were typed. Neither can
 * end the tag: of an end inside it the `<` is written `&lt;`.
 *
 * Throws `invalid` where arguments that stand several times become more than 2 MiB.
 */
export function wrapSkill(
  { name, folder }: Pick<Skill, 'name' | 'folder'>,
  body: string,
  args: string,
): string {
  const blanks = body.match(BLANK)?.length ?? 0
  if (blanks > 1 && blanks * args.length > MOST_CHARS) {
    throw new CrabError('invalid', `Cannot use the skill "${name}": it repeats its arguments, which are long`)
  }
  const filled = body.replace(BLANK, () => args).replace(END, '&lt;')
  const tag = `<skill name="${name}" folder="${toAttribute(folder)}">\n${filled.trim()}\n</skill>`
  return blanks > 0 || args === '' ? tag : `${tag}\n\n${args}`
}

/** `$ARGUMENTS[0]` and `$ARGUMENTS_X` are something else. */
const BLANK = /\$ARGUMENTS(?![\w[])/g
const END = /<(?=\s*\/\s*skill\b)/gi
const MOST_CHARS = 2 * 1024 * 1024

function toAttribute(path: string): string {
  return path.replaceAll(/["<>\r\n]/g, (char) => `&#${char.charCodeAt(0)};`)
}
