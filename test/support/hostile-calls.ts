/** The end of a tool call: denied, failed by the tool itself, or done. */
export type End = 'denied' | 'failed' | 'done'

/** One tool call: the options of `send`, how the call must end, and what its result must say. */
export interface Row {
  what: string
  tool: string
  args: unknown
  flags?: readonly string[]
  end: End
  says?: RegExp
}

const ECHO = ['--allow', 'bash(echo *)']
const NO_RM = ['--yolo', '--deny', 'bash(rm *)']
const YOLO = ['--yolo']

/**
 * Tool calls that try to gain access or are awkward, next to similar calls that are fine. `$OUT` is a folder
 * outside the working directory, `$HOME_DIR` that of crabtalk. Every bash line that is not allowed would create
 * the file `pwned` if any part of it ran.
 */
export const ROWS: readonly Row[] = [
  ...reading(),
  ...changing(),
  ...chaining(),
  ...denying(),
  ...running(),
  ...searching(),
  ...naming(),
]

function reading(): Row[] {
  const read = (what: string, path: unknown, end: End, says?: RegExp, flags?: string[]): Row => ({
    ...{ what, tool: 'read', args: { path }, end },
    ...(says && { says }),
    ...(flags && { flags }),
  })
  return [
    read('a file here', 'a.txt', 'done', /^hello$/),
    read('a path that leaves and comes back', 'sub/../a.txt', 'done', /^hello$/),
    read('a path with dots and slashes', './/sub/.././a.txt', 'done', /^hello$/),
    read('a link to a file here', 'link-in', 'done', /^hello$/),
    read('.. out of the directory', '../outside/secret.txt', 'denied', /outside the working directory/),
    read('.. out of it, allowed', '../outside/secret.txt', 'done', /^secret$/, ['--allow', 'read($OUT/**)']),
    read('an absolute path outside', '$OUT/secret.txt', 'denied', /outside the working directory/),
    read('the same, allowed for its neighbour only', '$OUT/secret.txt', 'denied', /outside/, [
      '--allow',
      'read($OUT/other.txt)',
    ]),
    read('a link that leads out', 'link-out', 'denied', /outside the working directory/),
    read('a directory link that leads out', 'dir-out/secret.txt', 'denied', /outside the working directory/),
    read('.. behind a link', 'dir-out/../outside/secret.txt', 'denied', /outside the working directory/),
    read('a link chain that leads out', 'link-chain', 'denied', /outside the working directory/),
    read('links in a circle', 'loop', 'failed', /form a loop/),
    read(
      'the file system of this process',
      '/proc/self/root/etc/passwd',
      'denied',
      /outside the working directory/,
    ),
    read(
      'the environment of this process, whatever is allowed',
      '/proc/self/environ',
      'failed',
      /crabtalk's own/,
      YOLO,
    ),
    read('~', '~/.ssh/id_rsa', 'denied', /outside the working directory/),
    read("another user's ~", '~root/.ssh/id_rsa', 'failed', /the file does not exist/),
    read('a device', '/dev/zero', 'failed', /not a regular file|device/, YOLO),
    read('a FIFO that nobody writes', 'fifo', 'failed', /FIFO|not a regular file/i),
    read('a binary file', 'binary', 'failed', /binary/),
    read('a file of 100 MB', 'huge', 'failed', /\d+ (bytes|MB)|too large|limit/),
    read('a missing file with a neighbour of nearly that name', 'a.txs', 'failed', /a\.txt/),
    read('a directory', 'sub', 'failed', /folder/),
    read('a NUL in the path', 'a.txt\u0000.png', 'failed', /NUL/),
    read('an empty path', '', 'failed', /path/),
    read('a path that is no text', ['a.txt'], 'failed', /path/),
    read('a path of 5,000 characters', 'x'.repeat(5_000), 'failed', /too long/),
    read('a URL', 'file:///etc/passwd', 'failed', /the file does not exist/),
    read('a name with a line break', 'new\nline', 'done', /^odd$/),
    read('a name in another Unicode form', 'cafe\u0301', 'done', /^composed$/),
    read(
      'the keys of crabtalk, whatever is allowed',
      '$HOME_DIR/config.toml',
      'failed',
      /crabtalk's own/,
      YOLO,
    ),
    read('the keys of crabtalk through a link', 'link-config', 'failed', /crabtalk's own/, YOLO),
  ]
}

function changing(): Row[] {
  const EDIT = ['--allow', 'edit']
  const write = (what: string, path: string, end: End, says?: RegExp, flags: string[] = []): Row => ({
    ...{ what, tool: 'write', args: { path, content: 'new\n' }, end, flags },
    ...(says && { says }),
  })
  const edit = (what: string, edits: unknown, says: RegExp): Row => {
    return { what, tool: 'edit', args: { path: 'b.txt', edits }, end: 'failed', says, flags: EDIT }
  }
  return [
    write('a new file that nobody allowed', 'made.txt', 'denied', /working directory/),
    write('a new file in new folders, allowed', 'x/y/made.txt', 'done', /4 bytes|1 line/, EDIT),
    write('a new file where only src may change', 'made.txt', 'denied', /working directory/, [
      '--allow',
      'edit(src/**)',
    ]),
    write('a file in src', 'src/made.txt', 'done', undefined, ['--allow', 'edit(src/**)']),
    write('.. out of src', 'src/../made.txt', 'denied', /working directory/, ['--allow', 'edit(src/**)']),
    write('outside', '../outside/made.txt', 'denied', /outside the working directory/, [
      '--allow',
      'edit(src/**)',
    ]),
    write('through a link to nothing that leads out', 'dangling', 'denied', /outside the working directory/, [
      '--allow',
      'edit(**)',
    ]),
    write('through a link that leads out', 'link-out', 'denied', /outside the working directory/, [
      '--allow',
      'edit(**)',
    ]),
    write('a file that was not read', 'a.txt', 'failed', /read it first|has not been read|not read/, EDIT),
    write('a directory', 'sub', 'failed', /folder/, EDIT),
    write('the configuration of crabtalk', '$HOME_DIR/config.toml', 'failed', /crabtalk's own/, YOLO),
    write('an agent of crabtalk', '$HOME_DIR/agents/evil.toml', 'failed', /crabtalk's own/, YOLO),
    edit('an edit of a file that was not read', [{ old: 'b', new: 'c' }], /read/),
    edit('an edit that changes nothing', [{ old: 'b', new: 'b' }], /same|nothing|identical/),
    edit('an edit of an empty text', [{ old: '', new: 'c' }], /empty|old/),
    edit('no edits', [], /edits/),
    edit('edits that are no list', 'b to c', /edits/),
  ]
}

function chaining(): Row[] {
  const bash = (what: string, command: string, end: End, says?: RegExp): Row => ({
    ...{ what, tool: 'bash', args: { command }, flags: ECHO, end },
    ...(says && { says }),
  })
  return [
    bash('an allowed command', 'echo fine', 'done', /^fine$/),
    bash('two allowed commands', 'echo one && echo two', 'done', /^one\ntwo$/),
    bash('a quoted operator', "echo 'a; touch pwned'", 'done', /^a; touch pwned$/),
    bash('an escaped operator', 'echo a \\; touch pwned', 'done', /^a ; touch pwned$/),
    bash('a comment', 'echo fine # ; touch pwned', 'done', /^fine$/),
    bash('a full-width semicolon, which is a letter', 'echo a； touch pwned', 'done', /^a； touch pwned$/),
    bash('a quoted command word', '"echo" fine', 'done', /^fine$/),
    bash('a name that begins alike', 'echoes', 'denied', /no rule allows/),
    bash('; ', 'echo a; touch pwned', 'denied', /no rule allows touch pwned/),
    bash('&&', 'echo a && touch pwned', 'denied'),
    bash('||', 'echo a || touch pwned', 'denied'),
    bash('|', 'echo a | tee pwned', 'denied'),
    bash('|&', 'echo a |& tee pwned', 'denied'),
    bash('&', 'echo a & touch pwned', 'denied'),
    bash('a line break', 'echo a\ntouch pwned', 'denied'),
    bash('a carriage return and a line break', 'echo a\r\ntouch pwned', 'denied'),
    bash('$( )', 'echo $(touch pwned)', 'denied'),
    bash('$( ) in double quotes', 'echo "$(touch pwned)"', 'denied'),
    bash('backquotes', 'echo `touch pwned`', 'denied'),
    bash('a process substitution', 'echo <(touch pwned)', 'denied'),
    bash('a substitution in a default', `echo \${x:-$(touch pwned)}`, 'denied'),
    bash('a substitution in arithmetic', 'echo $((x[$(touch pwned)]))', 'denied'),
    bash('a redirection', 'echo a > pwned', 'denied'),
    bash('a redirection that appends', 'echo a >>pwned', 'denied'),
    bash('a redirection of everything', 'echo a &>pwned', 'denied'),
    bash('a redirection that clobbers', 'echo a >|pwned', 'denied'),
    bash('a redirection that opens both ways', 'echo a 1<>pwned', 'denied'),
    bash('a here-document', 'echo <<X\n$(touch pwned)\nX', 'denied'),
    bash('a here-string', 'echo <<< $(touch pwned)', 'denied'),
    bash('a variable in front', 'PATH=. echo a', 'denied'),
    bash('a function of that name', 'echo() { touch pwned; }; echo', 'denied'),
    bash('an alias of that name', 'alias echo="touch pwned"\necho', 'denied'),
    bash('a group', '{ echo a; touch pwned; }', 'denied'),
    bash('a subshell', '(touch pwned)', 'denied'),
    bash('a loop', 'for x in 1; do touch pwned; done', 'denied'),
    bash('a condition', 'if echo a; then touch pwned; fi', 'denied'),
    bash('a negation', '! touch pwned', 'denied'),
    bash('eval', 'eval "touch pwned"', 'denied'),
    bash('a variable as the command', 'X=touch; $X pwned', 'denied'),
    bash('an escaped line break in a word', 'ec\\\nho a; touch pwned', 'denied'),
    bash('a dollar quote that hides a line break', "echo $'a\\ntouch pwned'\ntouch pwned", 'denied'),
    bash('an open quote', "echo 'a", 'denied'),
    bash('a no-break space for a space', 'echo\u00a0a', 'denied'),
    bash('a NUL', 'echo a\u0000; touch pwned', 'failed'),
    bash('an escape sequence that hides what follows', 'echo a\u001b[2K; touch pwned', 'denied'),
    bash('nothing', '', 'failed', /command/),
  ]
}

function denying(): Row[] {
  const rm = (what: string, command: string, end: End = 'denied'): Row => {
    return { what: `deny bash(rm *): ${what}`, tool: 'bash', args: { command }, flags: NO_RM, end }
  }
  return [
    rm('another command', 'ls a.txt', 'done'),
    rm('a command that begins alike', 'rmdir --help', 'done'),
    rm('the plain command', 'rm a.txt'),
    rm('by its path', '/bin/rm a.txt'),
    rm('quoted', '"rm" a.txt'),
    rm('escaped', '\\rm a.txt'),
    rm('in pieces', "r''m a.txt"),
    rm('behind another', 'ls; rm a.txt'),
    rm('in a pipe', 'echo a.txt | xargs rm'),
    rm('through command', 'command rm a.txt'),
    rm('through env', 'env rm a.txt'),
    rm('through sh -c', 'sh -c "rm a.txt"'),
    rm('in a substitution', 'echo $(rm a.txt)'),
    rm('through a variable', 'X=rm; $X a.txt'),
    rm('through eval', 'eval rm a.txt'),
  ]
}

function running(): Row[] {
  const bash = (what: string, command: string, end: End, says: RegExp, timeout?: number): Row => ({
    ...{ what, tool: 'bash', flags: YOLO, end, says },
    args: timeout === undefined ? { command } : { command, timeout },
  })
  return [
    bash('a failing command', 'echo no; exit 3', 'failed', /no[\s\S]*\b3\b/),
    bash('a command that is not there', 'no-such-program', 'failed', /not found[\s\S]*127/),
    bash('a command that reads', 'cat; echo end', 'done', /^end$/),
    bash('a command that asks on a terminal', 'read -r x </dev/tty || echo nobody', 'done', /nobody/),
    bash('10 MB', 'head -c 10000000 /dev/zero | tr "\\0" x', 'done', /10,?000,?000|bytes/),
    bash('an endless flood', 'yes', 'failed', /1 s|1000 ms/, 1),
    bash('a command that sleeps for ever', 'sleep 1000', 'failed', /1 s|1000 ms/, 1),
    bash('a command that kills itself', 'kill -9 $$', 'failed', /SIGKILL|signal/),
    bash('bytes that are no text', "printf 'a\\377\\376b'", 'done', /a.*b/),
    bash('escape sequences', "printf '\\033[31mred\\033[0m \\033]0;title\\007end'", 'done', /^red end$/),
    bash('a timeout that makes no sense', 'echo a', 'failed', /timeout/, -5),
  ]
}

function searching(): Row[] {
  const grep = (what: string, args: object, end: End, says?: RegExp): Row => ({
    ...{ what, tool: 'grep', args: { pattern: 'secret', ...args }, end },
    ...(says && { says }),
  })
  const glob = (what: string, pattern: string, end: End, says?: RegExp): Row => ({
    ...{ what, tool: 'glob', args: { pattern }, end },
    ...(says && { says }),
  })
  return [
    grep('a search here', { pattern: 'hello' }, 'done', /a\.txt/),
    grep('a search outside', { path: '../outside' }, 'denied', /outside the working directory/),
    grep('a search through a link that leads out', { path: 'dir-out' }, 'denied', /outside/),
    grep('a search that does not follow links out', {}, 'done', /^No matches/i),
    grep('a pattern that is none', { pattern: '(' }, 'failed', /not a valid regular expression/),
    grep('a pattern that looks like an option', { pattern: '--pre=touch pwned' }, 'done', /^No matches/i),
    grep('a glob that leads out', { glob: '../outside/*' }, 'failed', /below/),
    glob('a glob here', '*.txt', 'done', /a\.txt/),
    glob('a glob that leads out', '../**', 'denied', /outside the working directory/),
    glob('an absolute glob', '/etc/*', 'denied', /outside the working directory/),
  ]
}

function naming(): Row[] {
  const call = (what: string, tool: string, args: unknown, says: RegExp): Row => {
    return { what, tool, args, end: 'failed', says, flags: YOLO }
  }
  return [
    call('a tool that is not there', 'delete_everything', {}, /no tool has that name/),
    call(
      'a tool of a server that is not there',
      'mcp__fs__read_file',
      { path: 'a.txt' },
      /no tool has that name/,
    ),
    call('a tool with a command in its name', 'bash; touch pwned', {}, /no tool has that name/),
    call('a tool named like what every object has', 'constructor', {}, /no tool has that name/),
    call('__proto__', '__proto__', {}, /no tool has that name/),
    call('another case', 'Bash', { command: 'touch pwned' }, /no tool has that name/),
    call('arguments that are a list', 'bash', ['touch pwned'], /not a JSON object/),
    call('arguments that are a text', 'bash', 'touch pwned', /not a JSON object/),
    call('a command that is no text', 'bash', { command: ['touch', 'pwned'] }, /command/),
    call('a path that pretends to be a text', 'read', { path: { toString: 'a.txt' } }, /path/),
  ]
}
