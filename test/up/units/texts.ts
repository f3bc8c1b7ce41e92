import fc from 'fast-check'

/** Characters that mostly mean something to systemd, to a shell, to XML or to a Windows command line. */
const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...' "\'%$&\\;#*?[]{}()~!@-+:|<>=,.nxh0é漢/') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
)

/** Any text that a unit file can contain. */
export const anyText = fc
  .string({ unit: character, maxLength: 12 })
  .filter((text) => !/[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u.test(text))

/** Such a text as the name of a file. */
export const anyFileName = anyText.filter((text) => /^[^/]+$/.test(text) && !/^\.{1,2}$/.test(text))
