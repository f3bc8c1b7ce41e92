/** The reads of a simple command that is known to change nothing. Paths are as they are written. */
export interface ReadOnlyForm {
  /** The built-in form, for people: `git log`. */
  name: string
  /** Files and folders that it names. A word that may be a path counts as one. */
  paths: readonly string[]
  /** Whether `paths` must not be folders, because what it does with a folder is not known to stay inside. */
  isFilesOnly?: boolean
  /** Whether more operands, from a wildcard, would mean something else. */
  hasFewPaths?: boolean
  /** Whether without `paths` it reads the working directory. */
  readsFolder?: boolean
  /** Whether it shows what is in files below `paths`, or below the working directory when there are none. */
  isRecursive?: boolean
  /** The part of a repository that git reads, whose configuration must start nothing; `worktree` compares its files, too. */
  git?: 'history' | 'worktree'
  /** Whether it is safe only in an environment without what makes it run other programs. */
  isHardened?: boolean
  /** The folder that later commands of the line run in. */
  changesTo?: string
}

/** Reads the arguments of one command; undefined when it is not known to change nothing. */
export type FormReader = (args: readonly string[]) => ReadOnlyForm | undefined

/** Operands without `-`, which means the standard input. */
export function withoutInput(operands: readonly string[]): readonly string[] {
  return operands.filter((word) => word !== '-')
}
