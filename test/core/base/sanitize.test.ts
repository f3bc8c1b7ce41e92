import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { collapseBlanks, Sanitizer, sanitize, sanitizeLine } from '../../../src/core/base/sanitize.ts'
import { propertyRuns } from '../../support/property-runs.ts'

/** Control sequences, by their effect. */
const OBEYED: Record<string, string> = {
  'a colour': '\u001b[1;31m',
  'a private mode': '\u001b[?1049h',
  'a cursor report': '\u001b[6n',
  'a colour with colons': '\u001b[38:2::1:2:3m',
  'a window title, ended by BEL': '\u001b]0;pwned\u0007',
  'a window title, ended by ST': '\u001b]2;pwned\u001b\\',
  'a link': '\u001b]8;;https://example.com\u001b\\',
  'a clipboard write': '\u001b]52;c;cm0gLXJm\u0007',
  'a device control string': '\u001bP+q544e\u001b\\',
  'an application command': '\u001b_Gi=1;AAAA\u001b\\',
  'a privacy message': '\u001b^x\u001b\\',
  'a string with BEL inside SOS': '\u001bXx\u001b\\',
  'a character set': '\u001b(0',
  'a reset': '\u001bc',
  'a cursor style': '\u001b[1 q',
  'an escape with the last intermediate': '\u001b/A',
  'two intermediates': '\u001b $A',
  'two intermediates, the first and the last there are': '\u001b$ \u001b$/A',
  'an 8-bit colour': '\u009b31m',
  'an 8-bit title': '\u009d0;pwned\u009c',
  'an 8-bit device control string': '\u0090q\u009c',
  'a title cut by CAN': '\u001b]0;pw\u0018',
  'a title cut by another sequence': '\u001b]0;pw\u001b[31m',
  'an escape after an escape': '\u001b\u001b[31m',
  'an escape before an 8-bit sequence': '\u001b\u009b31m',
  'a sequence inside a sequence': '\u001b[3\u001b[31m',
  'an 8-bit sequence inside a sequence': '\u001b[3\u009b31m',
  'a sequence inside a character set': '\u001b(\u001b[31m',
  'a carriage return': '\r',
  'a backspace': '\b',
  'a bell': '\u0007',
  'a form feed': '\f',
  'a NUL': '\0',
  'a delete': '\u007f',
  'a next line': '\u0085',
  'a bidirectional override': '\u202e',
  'a bidirectional isolate': '\u2067',
}

for (const [what, sequence] of Object.entries(OBEYED)) {
  test(`sanitize() removes ${what}, and nothing around it`, () => {
    assert.equal(sanitize(`before ${sequence} after`), 'before  after')
  })
}

test('sanitize() keeps line feeds, tabs and the words of every script', () => {
  const text = 'a\tb\n日本語 עברית \u200d👩‍👩‍👧 e\u0301 \ufeff\u00a0\u2028'
  assert.equal(sanitize(text), text)
})

test('sanitize() leaves no control sequence in any text', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      assert.doesNotMatch(sanitize(text), /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('sanitize() is idempotent', () => {
  fc.assert(
    fc.property(hostileText, (text) => assert.equal(sanitize(sanitize(text)), sanitize(text))),
    { numRuns: propertyRuns(1_000) },
  )
})

test('Sanitizer.push() returns the same for any division of its input', () => {
  const whole = `${Object.values(OBEYED).join('x')} and 👩‍👩‍👧`
  for (let at = 0; at <= whole.length; at++) {
    const sanitizer = new Sanitizer()
    assert.equal(sanitizer.push(whole.slice(0, at)) + sanitizer.push(whole.slice(at)), sanitize(whole))
  }
  const sanitizer = new Sanitizer()
  assert.equal(
    whole
      .split('')
      .map((unit) => sanitizer.push(unit))
      .join(''),
    sanitize(whole),
  )
})

test('Sanitizer.push() returns the same for any division of its bytes', () => {
  const bytes = Buffer.from(Object.values(OBEYED).join('é'))
  for (let at = 0; at <= bytes.length; at++) {
    const decoder = new TextDecoder()
    const sanitizer = new Sanitizer()
    const first = sanitizer.push(decoder.decode(bytes.subarray(0, at), { stream: true }))
    const second = sanitizer.push(decoder.decode(bytes.subarray(at)))
    assert.equal(first + second, sanitize(bytes.toString()))
  }
})

test('sanitizeLine() and collapseBlanks() put a text on one line', () => {
  const text = ' \u001b[31mred\u001b[0m \t\r\n  and\n\nblue '
  assert.equal(sanitizeLine(text), ' red and blue ')
  assert.equal(collapseBlanks(' one \n\t two '), 'one two')
})

const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...Object.values(OBEYED), '\u001b', '[', ']', ';', '\\', 'm', 'é'),
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
    ),
  )
  .map((parts) => parts.join(''))
