/** The files and folders read by a simple command that is known to change nothing. Paths are as written. */
export interface ReadOnlyForm {
  /** The built-in form as shown to users: `git log`. */
  name: string
  /** The files and folders that it names. A word that may be a path counts as one. */
  paths: readonly string[]
  /** Whether `paths` must not be folders, because reading a folder may lead outside of it. */
  isFilesOnly?: boolean
  /** Whether additional operands, from a wildcard, would have another meaning. */
  hasFewPaths?: boolean
  /** Whether it reads the working directory when `paths` is empty. */
  readsFolder?: boolean
  /**
   * Whether it shows the content of files below `paths`, or below the working directory when there are none.
   */
  isRecursive?: boolean
  /**
   * The part of a repository that git reads, whose configuration must start nothing. `worktree` also compares
   * its files.
   */
  git?: 'history' | 'worktree'
  /** Whether it is safe only in an environment without the variables that make it run other programs. */
  isHardened?: boolean
  /** The folder in which later commands of the line run. */
  changesTo?: string
}

/** Reads the arguments of one command; undefined when the command is not known to change nothing. */
export type FormReader = (args: readonly string[]) => ReadOnlyForm | undefined

/** Returns the operands without `-`, which means standard input. */
export function withoutInput(operands: readonly string[]): readonly string[] {
  return operands.filter((word) => word !== '-')
}
