import fc from 'fast-check'

/** A line of `p` commands that a lexer must understand. */
export interface PlainLine {
  text: string
  /** The arguments of each `p`. */
  commands: string[][]
  /** Whether each of the commands runs when every `p` succeeds. */
  runs: boolean[]
  /** The places where another command may be inserted: after an operator, or at the beginning. */
  gaps: number[]
}

interface Piece {
  text: string
  source: string
}

const printable = fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => text.replace(UNREADABLE(), ''))
const quotable = fc
  .tuple(printable, fc.constantFrom('', '\n', '\t', ' ', '\\', '"', '$x', '`', ';', '&&', '|', '#'))
  .map((parts) => parts.join(''))
const bare = fc
  .string({ unit: fc.constantFrom(...'abz019_-+:,./@%^]é日'), minLength: 1, maxLength: 5 })
  .map((text) => ({ text, source: text }))
const single = quotable.map((value): Piece => {
  const text = value.replaceAll("'", '')
  return { text, source: `'${text}'` }
})
const double = fc.tuple(quotable, fc.boolean()).map(([text, isContinued]): Piece => {
  const source = text.replace(/[\\"$`]/g, '\\$&')
  return { text, source: isContinued ? `"${source}\\\n"` : `"${source}"` }
})
const escaped = fc
  .constantFrom(...'ab12 \'"\\$`;&|<>(){}[]*?~#!=\t')
  .map((text): Piece => ({ text, source: `\\${text}` }))
const glob = fc
  .constantFrom('*', '?', '[', '[a-z]', '!', '=', '#', '}')
  .map((text): Piece => ({ text, source: text }))
const continued = fc.constant<Piece>({ text: '', source: '\\\n' })
const piece = fc.oneof(bare, single, double, escaped, glob, continued)

/** Words do not begin like a comment, an expansion or a redirection. */
const word = fc
  .tuple(fc.oneof(bare, single, double, escaped), fc.array(piece, { maxLength: 3 }))
  .map(([first, others]) => join([first, ...others]))
const blank = fc.constantFrom(' ', '  ', '\t', ' \\\n ', ' \\\n')
const redirection = fc.constantFrom(
  '',
  '',
  '',
  ' 2>&1',
  ' >/dev/null',
  ' 2> /dev/null',
  ' </dev/null',
  ' >&2',
)
const command = fc.record({
  words: fc.array(fc.tuple(blank, word), { maxLength: 3 }),
  redirection,
  operator: fc.constantFrom(
    ';',
    ' ; ',
    '&&',
    ' && ',
    ' || ',
    '|',
    ' | ',
    ' & ',
    '\n',
    '\n\n',
    ' # it; p "\n',
    ' |& ',
    '&&\\\n',
  ),
})

/** Generates lines that a shell runs and that the lexer must split; `|&` is for bash only. */
export const plainLines: fc.Arbitrary<PlainLine> = fc
  .record({
    commands: fc.array(command, { minLength: 1, maxLength: 4 }),
    end: fc.constantFrom('', ';', ' ;', '\n', ' &', ' # p x', '\n# p x\n'),
  })
  .map(({ commands, end }) => {
    const line: PlainLine = { text: '', commands: [], runs: [], gaps: [] }
    let isSkipped = false
    for (const [i, { words, redirection: redirected, operator }] of commands.entries()) {
      line.gaps.push(line.text.length)
      line.text += `p${words.map(([gap, { source }]) => gap + source).join('')}${redirected}`
      line.commands.push(words.map(([, { text }]) => text))
      line.runs.push(!isSkipped)
      line.text += i < commands.length - 1 ? operator : end
      if (operator.trim() === '||') isSkipped = true
      else if (!/^\|&?$/.test(operator.trim())) isSkipped = false
    }
    return line
  })

/** Generates lines of arbitrary shell syntax, some of which happen to be plain; commands are `p`. */
export const soups: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { arbitrary: fc.constantFrom(...'abp21 \t'), weight: 3 },
      { arbitrary: fc.constantFrom(...'\'"\\'), weight: 3 },
      { arbitrary: fc.constantFrom(...'#~{},.=:!*?[]%^-+@/'), weight: 2 },
      {
        arbitrary: fc.constantFrom(' ; p ', '&&p ', '||p ', '|p ', ' & p ', '\np ', ';', '&', '|'),
        weight: 2,
      },
      {
        arbitrary: fc.constantFrom(
          '>',
          '<',
          '>&1',
          '2>&1',
          '>/dev/null',
          ' </dev/null ',
          '\\\n',
          '$',
          '`',
          '(',
          ')',
        ),
        weight: 1,
      },
    ),
    { minLength: 1, maxLength: 14 },
  )
  .map((tokens) => `p ${tokens.join('')}`)

function join(pieces: readonly Piece[]): Piece {
  return {
    text: pieces.map(({ text }) => text).join(''),
    source: pieces.map(({ source }) => source).join(''),
  }
}

/** Matches the constructs that make any line opaque. */
function UNREADABLE(): RegExp {
  return /[[\p{Cc}\p{Cs}\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u037e\u1fef\u212a]--[ ]]/gv
}
