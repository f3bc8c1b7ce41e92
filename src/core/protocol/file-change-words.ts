import { FileChange } from './crabtalk.generated.ts'

/** A word for each change of a file. */
export const FILE_CHANGE_WORDS: Readonly<Record<FileChange, string>> = {
  [FileChange.UNSPECIFIED]: 'changed',
  [FileChange.CREATED]: 'created',
  [FileChange.MODIFIED]: 'modified',
  [FileChange.DELETED]: 'deleted',
  [FileChange.NONE]: 'unchanged',
}
