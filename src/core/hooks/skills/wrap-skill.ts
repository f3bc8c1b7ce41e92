import { CrabError } from '../../base/errors.ts'
import { wrapInTag } from '../../base/wrap-text.ts'
import type { Skill } from '../../skills/scan-skills.ts'

/**
 * A skill that a person named, as a model reads it. Arguments stand where the body has `$ARGUMENTS`, else behind it, as
 * they were typed.
 *
 * Throws `invalid` where arguments that stand several times become more than 2 MiB.
 */
export function wrapSkill(skill: Pick<Skill, 'name' | 'folder'>, body: string, args: string): string {
  const blanks = body.match(BLANK)?.length ?? 0
  if (blanks > 1 && blanks * args.length > MOST_CHARS) {
    throw new CrabError(
      'invalid',
      `Cannot use the skill "${skill.name}": it repeats its arguments, which are long`,
    )
  }
  const tag = tagSkill(
    skill,
    body.replace(BLANK, () => args),
  )
  return blanks > 0 || args === '' ? tag : `${tag}\n\n${args}`
}

/** The text of a skill in a tag that it can neither end nor begin again. */
export function tagSkill({ name, folder }: Pick<Skill, 'name' | 'folder'>, body: string): string {
  return wrapInTag('skill', { name, folder }, body.trim())
}

/** `$ARGUMENTS[0]` and `$ARGUMENTS_X` are something else. */
const BLANK = /\$ARGUMENTS(?![\w[])/g
const MOST_CHARS = 2 * 1024 * 1024
