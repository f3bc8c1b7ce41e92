import fc from 'fast-check'

/**
 * Generates valid TOML texts with every form of key and value, comments and odd spacing. Keys never repeat in a
 * table, because each has a unique number.
 */
export function tomlTexts(): fc.Arbitrary<string> {
  const body = fc.array(fc.oneof({ arbitrary: pair, weight: 4 }, { arbitrary: filler, weight: 1 }), {
    maxLength: 5,
  })
  const table = fc.record({ key, body, form: fc.constantFrom('table', 'list', 'sub', 'dotted') })
  return fc.record({ root: body, tables: fc.array(table, { maxLength: 4 }) }).map((parts) => {
    const numbered = number()
    const tables = parts.tables.map(({ key: name, body: lines, form }) => {
      const unique = numbered(name)
      return head(unique, form) + lines.map((line) => numbered(line)).join('')
    })
    return parts.root.map((line) => numbered(line)).join('') + tables.join('')
  })
}

/** Returns the lines before those of the table itself: `#` in a key stands for its number. */
function head(key: string, form: string): string {
  if (form === 'list') return `[[${key}]]\nx = 1\n[[ ${key} ]] # again\n`
  if (form === 'sub') return `[[${key}]]\nx = 1\n[${key}.sub]\n`
  if (form === 'dotted') return `[ ${key} . "in ner" ]\n`
  return `\t[${key}]\n`
}

/** Returns a function that replaces every `\u0001` by a unique number. */
function number(): (text: string) => string {
  let next = 0
  return (text) => text.replaceAll('\u0001', () => String(next++))
}

const plain = fc.string({ maxLength: 8 }).map((text) => text.replace(/["'\\]|\p{Cc}/gu, '-'))
const key = fc.oneof(
  fc.constantFrom('a\u0001', 'b-\u0001', '\u0001_c'),
  plain.map((text) => `"${text}#=[\u0001"`),
  plain.map((text) => `'${text}.]\u0001'`),
  fc.constant('"\\u00e9\\"\u0001"'),
)
const dottedKey = fc.array(key, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' . '))
const gap = fc.constantFrom('', ' ', '\t', '\n', ' # a, comment] with } "quotes"\n', '\r\n  ')
const filler = fc.constantFrom('\n', '# [not] = "a table"\n', '  \t\n', '#\n', '\r\n')
const scalar = fc.oneof(
  fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '-')),
  plain.map((text) => `'${text}'`),
  plain.map((text) => `"""\n${text}\n# "" not a comment = [\n"""`),
  plain.map((text) => `'''${text}''\nx = '''`),
  fc.constantFrom(
    '"""a"""',
    '"""""a"""""',
    '"""\\\n   b"""',
    '"""\\""""',
    "''''it's'''",
    '""',
    "''",
    '""""""',
  ),
  fc.constantFrom('0', '-17', '1_000', '0xFF', '3.14', '6.02e23', 'inf', '-nan', 'true', 'false'),
  fc.constantFrom('1979-05-27', '07:32:00', '1979-05-27T07:32:00Z', '1979-05-27 07:32:00.5-07:00'),
)
const { value } = fc.letrec<{ value: string; list: string; table: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('list'), tie('table')),
  list: fc.array(fc.tuple(gap, tie('value'), gap), { maxLength: 3 }).map((parts) => {
    return `[${parts.map((part) => part.join('')).join(',')}]`
  }),
  table: fc.array(fc.tuple(dottedKey, tie('value')), { maxLength: 3 }).map((parts) => {
    return `{${parts.map(([name, inner]) => ` ${name} = ${inner} `).join(',')}}`
  }),
}))
const pair = fc
  .tuple(dottedKey, value, fc.constantFrom('\n', ' # it\n', '\r\n'))
  .map(([name, text, end]) => `${name} =${' '}${text}${end}`)
