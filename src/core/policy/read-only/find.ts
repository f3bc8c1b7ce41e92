import type { FormReader } from './read-only-form.ts'

/**
 * Reads the arguments of find; undefined for any test or action that is not listed, such as -exec, -delete or
 * -fprint.
 */
export const readFind: FormReader = (args) => {
  const begin = args.findIndex((arg) => /^[-(!]/.test(arg))
  const paths = args.slice(0, begin < 0 ? args.length : begin)
  const words = args.slice(paths.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (VALUED.has(word)) {
      const value = words[++i]
      // `TZ="…"` in a date names a file.
      if (value === undefined || (word === '-newermt' && /TZ/i.test(value))) return undefined
    } else if (!PLAIN.has(word)) return undefined
  }
  return { name: 'find', paths, readsFolder: true }
}

/** The tests and actions without a value. `-L`, `-H` and `-follow` are left out because they follow links. */
const PLAIN: ReadonlySet<string> = new Set(
  '( ) ! -not -a -and -o -or , -print -print0 -ls -prune -quit -depth -d -empty -true -false -mount -xdev -P -nouser -nogroup -readable -writable -executable -daystart'.split(
    ' ',
  ),
)

/**
 * The tests and actions with a text value; `-printf` writes to standard output. `-newer` and `-samefile` are
 * left out because they name files.
 */
const VALUED: ReadonlySet<string> = new Set(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -newermt -printf'.split(
    ' ',
  ),
)
