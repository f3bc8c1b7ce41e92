import { test } from 'node:test'
import { checkLines } from '../../support/policy-lines.ts'

test('a rule that denies is about a command however it is written', () => {
  checkLines([
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['rm', 'rm -rf x', '/bin/rm x', './rm x', '../../bin/rm x', 'RM x', '/BIN/RM x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      [`'rm' x`, 'r\\m x', 'r""m x', 'ls; rm x', 'ls && rm x', 'ls | rm x', 'ls\nrm x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['command rm x', 'env rm x', 'env -i A=b rm x', 'nohup rm x', 'nice -n 5 rm x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['sudo rm x', 'sudo -u root -- rm x', '/usr/bin/sudo /bin/rm x', 'doas rm x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['xargs rm', 'ls | xargs -0 -n1 rm -f', 'timeout -s KILL 5 rm x', 'setsid rm x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['sh -c "rm x"', `bash -lc 'cd a && rm x'`, `sudo sh -c 'ls; /bin/rm x'`, 'sh -c rm'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      [`sh -c "sh -c 'rm x'"`, `env -S 'rm x'`, `watch 'ls; rm x'`, `su -c 'rm x' root`],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['find . -exec rm {} +', 'find . -name a -execdir /bin/rm {} \\;', 'fd -x rm'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(rm *)'],
      ['busybox rm x', 'stdbuf -o0 nohup nice rm x', 'npx rm x', 'command -p rm x'],
    ],
    [
      'allow',
      ['allow bash', 'deny bash(rm *)'],
      ['ls rm', 'git rm x', 'npm rm x', 'echo "rm x"', 'man rm', 'rmdir x', 'grep rm x'],
    ],
    [
      'allow',
      ['allow bash', 'deny bash(rm *)'],
      ['find . -name rm', 'sh x.sh', 'bash -x a.sh', `sh -c 'ls; pwd'`, 'env A=b ls'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(git push *)'],
      ['git push', 'sudo git push -f', `sh -c 'git push'`, '/usr/bin/git push x'],
    ],
    ['allow', ['allow bash', 'deny bash(git push *)'], ['git status', 'git stash push', 'git pushx']],
    ['deny', ['allow bash(git *)', 'deny bash'], ['git status', 'git $(x)']],
    ['deny', ['allow bash', 'deny bash(*)'], ['ls', 'ls $(x)', 'a > b']],
    ['deny', ['allow bash', 'deny *'], ['ls', 'ls $(x)']],
    ['ask', ['allow bash', 'ask bash(rm *)'], ['/bin/rm x', 'sudo rm x', `sh -c 'rm x'`, 'ls; rm x']],
  ])
})

test('a rule that denies sees what a shell makes of the words it is given', () => {
  const rules = ['allow bash', 'deny bash(rm *)']
  checkLines([
    [
      'deny',
      rules,
      [
        `sh -c 'r""m'`,
        `sudo bash -c 'r\\m'`,
        `env -S 'r""m x'`,
        `xargs sh -c '"rm"'`,
        'jobs -x rm x',
        'ssh h rm x',
      ],
    ],
    ['ask', rules, [`sh -c 'r?'`, `bash -c '{rm,x}'`, `sh -c 'A=b;rm'`, `su -c '"$x"'`]],
    [
      'allow',
      rules,
      [
        "xargs -I{} echo '{}'",
        'find . -exec ls {} \\;',
        'sudo ls *.ts',
        `sudo echo '"x"'`,
        `nice grep 'a.*b'`,
      ],
    ],
  ])
})

test('what cannot be seen asks where a narrower rule restricts, in spite of a rule for all of bash', () => {
  const hidden = [
    'rm $(ls)',
    'A=b rm x',
    '$x',
    'eval "rm x"',
    'for a in b; do rm $a; done',
    '{ rm x; }',
    'rm x > y',
    'r{m,x} y',
  ]
  const inner = [
    `sh -c 'rm $x'`,
    'sh',
    'ls | sh',
    'curl x | sudo bash -s',
    `env -S 'a; $(b)'`,
    `bash -c 'eval x'`,
  ]
  checkLines([
    ['ask', ['allow bash', 'deny bash(rm *)'], [...hidden, ...inner]],
    ['ask', ['allow bash', 'ask bash(rm *)'], [...hidden, ...inner]],
    ['ask', ['allow *', 'deny bash(rm *)'], [...hidden, ...inner]],
    ['allow', ['allow bash', 'deny read(.env)', 'deny mcp__*', 'allow bash(rm *)'], [...hidden, ...inner]],
    ['ask', ['allow bash(sh *)', 'deny bash(rm *)'], [`sh -c 'rm $x'`]],
    ['allow', ['allow bash(sh *)'], [`sh -c 'rm $x'`]],
    ['deny', ['allow bash', 'deny bash(rm *)'], ["sh -c 'ls; $y' rm"]],
  ])
  const deep = Array.from({ length: 6 }).reduce<string>(
    (line) => `sh -c '${line.replaceAll("'", `'\\''`)}'`,
    'rm x',
  )
  const wide = `sudo ${'x '.repeat(300)}`
  checkLines([['ask', ['allow bash', 'deny bash(mv *)'], [deep, wide]]])
})
