import type { FormReader } from './read-only-form.ts'

/** Reads the arguments of find; undefined with any test or action that is not listed, such as -exec, -delete or -fprint. */
export const readFind: FormReader = (args) => {
  const begin = args.findIndex((arg) => /^[-(!]/.test(arg))
  const paths = args.slice(0, begin < 0 ? args.length : begin)
  const words = args.slice(paths.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (VALUED.has(word)) {
      const value = words[++i]
      if (value === undefined || (word === '-newermt' && /TZ/i.test(value))) return undefined // `TZ="…"` names a file
    } else if (!PLAIN.has(word)) return undefined
  }
  return { name: 'find', paths, readsFolder: true }
}

/** The tests and actions that take no value, without `-L`, `-H` and `-follow`, which follow links. */
const PLAIN: ReadonlySet<string> = new Set(
  '( ) ! -not -a -and -o -or , -print -print0 -ls -prune -quit -depth -d -empty -true -false -mount -xdev -P -nouser -nogroup -readable -writable -executable -daystart'.split(
    ' ',
  ),
)

/** Their value is a text; `-printf` writes to the standard output. `-newer` and `-samefile` name files, and are left out. */
const VALUED: ReadonlySet<string> = new Set(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -newermt -printf'.split(
    ' ',
  ),
)
