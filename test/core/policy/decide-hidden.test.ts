import { test } from 'node:test'
import { checkLines } from '../../support/policy-lines.ts'

test('a deny rule matches a command however it is written', () => {
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

test('a deny rule matches what a shell makes of the words', () => {
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

test('what cannot be analysed asks where a narrower rule restricts, even with a rule for all of bash', () => {
  const hidden = [
    'rm $(ls)',
    'PATH=b rm x',
    '$x',
    'eval "rm x"',
    'for a in b; do rm $a; done',
    '{ rm x; }',
    'rm x >| y',
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

const RULES = ['allow bash', 'deny bash(rm *)']

test('a shell that may read a pipe asks where a narrower rule restricts', () => {
  const shells =
    'bash -o pipefail;bash -O extglob;bash -s x;sh -s -- a;bash /dev/stdin;bash -;bash --;sudo bash -eo pipefail;' +
    'bash /dev/./fd/0;bash /proc/self/fd/0;bash /dev/std*;bash --rcfile x;fish -C ls;yash;sh -c;sh -c bash x'
  const files =
    'bash x.sh;bash -eo pipefail x.sh;bash --norc x.sh;sh -- x.sh;sh -c ls;bash dev/x.sh;bash -lc pwd'
  checkLines([
    ['ask', RULES, shells.split(';').map((shell) => `cat a | ${shell}`)],
    ['allow', RULES, files.split(';').map((shell) => `cat a | ${shell}`)],
  ])
})

test('words from a pipe ask where they may become a command', () => {
  const hidden =
    'parallel;parallel -j4;parallel env;parallel ssh host ls;parallel {};parallel sh -c {};xargs env;xargs sudo;xargs sudo -n;xargs timeout 5;' +
    'xargs ionice -c 2;xargs sh -c;xargs -I% sh -c %;xargs -I % sh -c "ls %";xargs -I% % -rf x;xargs -0I{} env {} x;' +
    'xargs --replace {} x;xargs -i nice {};xargs ssh host ls;xargs -I% ssh host ls %;ssh host;ssh -p 22 host;su;su ann;' +
    'sudo -s;sudo -iu ann;chroot /;unshare;nsenter -t 1;at now;batch;tmux send-keys x;sg wheel;run0;script x'
  const seen =
    'xargs;xargs -0 ls;xargs -r -n1 grep x;xargs nice ls;xargs -I% cp % x;xargs -I {} cp {} x;xargs -I{} env ls {};' +
    'parallel gzip;parallel -j 4 gzip {};ssh host ls;su -c ls ann;sudo -l;sudo -s ls;xargs sh x.sh;nice;timeout 5 ls'
  checkLines([
    ['ask', RULES, hidden.split(';').map((end) => `cat a | ${end}`)],
    [
      'ask',
      RULES,
      [
        'find . -exec {} x \\;',
        'find . -exec sh -c {} \\;',
        "find . -exec sh -c 'ls {}' \\;",
        'fd -x env',
        'fdfind -x env',
        'fd -x {} x',
      ],
    ],
    ['allow', RULES, seen.split(';').map((end) => `cat a | ${end}`)],
    ['allow', RULES, ['find . -exec grep -l x {} +', 'find . -exec nice ls {} \\;']],
  ])
})

test('a wildcard in the name of the command that a launcher starts asks', () => {
  const hidden =
    'nice /bin/r? x;sudo /bin/r[m] x;sudo -u ann r*;find . -exec /bin/r? {} +;sudo nice -n 5 r?;timeout 5 r?;env A=b r?'
  const seen =
    "sudo ls *.ts;xargs -0 grep 'a.*b';timeout 5 ls *;find . -name '*.ts' -exec grep 'a*' {} +;sudo [ -f x ];" +
    `bash -c 'ls *.ts'`
  checkLines([
    ['ask', RULES, hidden.split(';')],
    ['allow', RULES, seen.split(';')],
  ])
})

test("a line in an option's value is analysed, and so is what other launchers start", () => {
  checkLines([
    [
      'deny',
      RULES,
      ["env -S'rm x'", "env -vS'rm x'", "su -c'rm x'", "script -qc'rm x' f", 'su -crm', 'env -Srm x'],
    ],
    [
      'deny',
      RULES,
      ["su --command='rm x'", 'env --split-string=\'r""m x\'', "hyperfine 'rm x'", "hyperfine -p'rm x' ls"],
    ],
    [
      'deny',
      RULES,
      ['gosu ann rm x', 'chronic rm x', 'choom -n 5 rm x', 'uclampset -m 5 rm x', "sg wheel 'rm x'"],
    ],
    ['deny', RULES, ['numactl -N 0 rm x', 'run0 rm x', "tmux new -d 'rm x'", "yash -c 'rm x'"]],
    ['ask', RULES, ["env -S'$x'", "su -c'a; $(b)'", 'script -qcbash f']],
    ['allow', RULES, ["env -S'ls x'", "su -c'ls x'", 'hyperfine ls', 'chronic ls']],
  ])
})

test('a rule that begins with a * matches the text anywhere in a line', () => {
  checkLines([
    [
      'deny',
      ['allow bash', 'deny bash(*.ssh*)'],
      ['cat ~/.ssh/id', 'echo x > .ssh/a', 'cat "$HOME/.ssh/a"', 'ls; cat .ssh/x'],
    ],
    [
      'deny',
      ['allow bash', 'deny bash(*git push*)'],
      ['git push', 'git  push origin', 'x=$(git push)', 'eval "git push"'],
    ],
    ['allow', ['allow bash', 'deny bash(*.ssh*)'], ['ls', 'git push']],
  ])
})
