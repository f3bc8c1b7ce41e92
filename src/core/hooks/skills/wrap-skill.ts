import { CrabError } from '../../base/errors.ts'
import { wrapInTag } from '../../base/wrap-text.ts'
import type { Skill } from '../../skills/scan-skills.ts'

/**
 * Formats a skill that a user named for the model. The arguments, exactly as typed, replace `$ARGUMENTS` in
 * the body, or follow the skill when there is no placeholder.
 *
 * Throws `invalid` when several placeholders would expand the arguments to more than 2 MiB.
 */
export function wrapSkill(skill: Pick<Skill, 'name' | 'folder'>, body: string, args: string): string {
  const blanks = body.match(BLANK)?.length ?? 0
  if (blanks > 1 && blanks * args.length > MAX_CHARS) {
    throw new CrabError(
      'invalid',
      `Cannot use the skill "${skill.name}": it repeats its arguments, which are too long`,
    )
  }
  const tag = tagSkill(
    skill,
    body.replace(BLANK, () => args),
  )
  return blanks > 0 || args === '' ? tag : `${tag}\n\n${args}`
}

/** Wraps the text of a skill in a tag that the text can neither close nor open. */
export function tagSkill({ name, folder }: Pick<Skill, 'name' | 'folder'>, body: string): string {
  return wrapInTag('skill', { name, folder }, body.trim())
}

/** Matches `$ARGUMENTS`, but not `$ARGUMENTS[0]` or `$ARGUMENTS_X`. */
const BLANK = /\$ARGUMENTS(?![\w[])/g
const MAX_CHARS = 2 * 1024 * 1024
