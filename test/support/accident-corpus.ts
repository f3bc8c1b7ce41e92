/** One keyboard action: a text key by key, a named key, or a paste. */
export type Stroke =
  | string
  | { key: 'enter' | 'up' | 'down' | 'tab' | 'escape' | 'backspace' }
  | { ctrl: string }
  | { paste: string }

/** Sentences that users type while an agent works. Each ends with Enter. */
const SENTENCES: readonly string[] = [
  ...[
    'yes',
    'y',
    'Y',
    'yes but not yet',
    'yes, and run the tests',
    'yep',
    'yeah do it after lunch',
    'you can stop',
  ],
  ...['yesterday it worked', 'your turn', 'yarn instead of npm', 'yml files only', 'yes yes yes', 'y?', 'yo'],
  ...[
    's',
    'stop',
    'stop that',
    'so what is this',
    'sure',
    'skip the tests',
    'show me the diff',
    'sorry, wrong window',
  ],
  ...[
    'say that again',
    'see src/a.ts',
    'save first',
    'si',
    'still there?',
    'single quotes please',
    'stash it',
  ],
  ...[
    'a',
    'actually',
    'always use tabs',
    'and then?',
    'all of it',
    'ask me first',
    'add a test',
    'as before',
  ],
  ...['allow nothing', 'abort', 'a moment', 'again', 'also b.ts', 'apply the other one', 'any news?', 'aha'],
  ...[
    'n',
    'N',
    'no',
    'no!',
    'not now',
    'next',
    'never mind',
    'nein, danke',
    'name it kraken',
    'nothing',
    'now?',
  ],
  ...['1', '2', '3', '4', '5', '9', '0', '1 more thing', '2 files are missing', '3rd time', '4', '5 minutes'],
  ...[
    '1. first 2. second',
    '2',
    '2nd one',
    '11',
    '12 tests fail',
    '1st',
    '3',
    '2 + 2',
    '1?',
    '5 is enough',
    '42',
  ],
  ...[
    'what is this',
    'explain',
    'please make it faster',
    'run',
    'undo',
    'quit',
    'help me',
    '? what',
    '?',
    '??',
  ],
  ...[
    'ja, mach weiter',
    'oui mais attends',
    'sí, pero después',
    'да, конечно',
    'はい',
    '好的',
    'evet',
    'não agora',
  ],
  ...[
    '#3 is open',
    '! no',
    '  indented',
    '-',
    'ok',
    'OK, 1 of them',
    'git log -2',
    'ls -1',
    'a1',
    'see 3 and 2',
  ],
]

/**
 * Other typing patterns: histories, completions, pastes, corrections, bursts. Each ends with the intended
 * input.
 */
const HABITS: readonly (readonly Stroke[])[] = [
  [{ key: 'up' }, { key: 'enter' }],
  [{ key: 'up' }, { key: 'up' }, { key: 'enter' }],
  [{ key: 'down' }, { key: 'enter' }],
  [{ key: 'enter' }, { key: 'enter' }, { key: 'enter' }],
  ['2', { key: 'enter' }, { key: 'enter' }, { key: 'enter' }],
  ['1', { key: 'backspace' }, 'yes', { key: 'enter' }],
  ['y', { key: 'tab' }, { key: 'enter' }],
  [{ key: 'tab' }, { key: 'enter' }],
  [{ paste: '1\n2\n3\ny\n' }, { key: 'enter' }],
  [{ paste: 'yes\n' }, { key: 'enter' }],
  ['1', { ctrl: 'j' }, '2', { ctrl: 'j' }, '3', { key: 'enter' }],
  [{ ctrl: 'p' }, { key: 'enter' }],
  ['12', { ctrl: 'w' }, 'always', { key: 'enter' }],
  ['3', { ctrl: 'u' }, { key: 'enter' }],
  ['[A', { key: 'enter' }],
  ['3', { key: 'up' }, { key: 'enter' }],
]

/** The whole corpus of more than a hundred inputs. */
export const ACCIDENTS: readonly (readonly Stroke[])[] = [
  ...SENTENCES.map((text): Stroke[] => [text, { key: 'enter' }]),
  ...HABITS,
]
