import { test } from 'node:test'
import { checkLines } from '../../support/policy-lines.ts'

test('a rule that allows a launcher does not allow what it starts', () => {
  checkLines([
    [
      'ask',
      ['allow bash(timeout *)'],
      ['timeout 5 rm v', 'timeout -s KILL 5 rm v', 'timeout 5 timeout 6 rm v'],
    ],
    ['ask', ['allow bash(xargs *)'], ['xargs rm', 'xargs -n 1 rm', 'xargs sh -c ls', 'ls | xargs rm']],
    [
      'ask',
      ['allow bash(env *)'],
      ['env rm v', 'env A=b rm v', 'env -i rm v', 'env PATH=. ls', 'env -S "rm v"'],
    ],
    [
      'ask',
      ['allow bash(find *)'],
      ['find . -exec rm {} +', 'find . -ok rm {} ;', "find . -exec sh -c 'x' ';'"],
    ],
    ['allow', ['allow bash(find *)'], ['find', 'find . -name x', 'find . -delete']],
    ['ask', ['allow bash(sudo *)'], ['sudo rm v', 'sudo -s', 'sudo -u ann rm v']],
    [
      'ask',
      ['allow bash(npx *)', 'allow bash(nohup *)', 'allow bash(nice *)'],
      ['npx tsc', 'nohup rm v', 'nice -n 5 rm v'],
    ],
    [
      'ask',
      ['allow bash(npm *)'],
      ['npm exec -c "rm v"', 'npm x -- rm v', 'npm --silent exec rm v', 'npm explore a -- rm'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ["git rebase -x 'rm v' HEAD~2", 'git bisect run rm v', 'git submodule foreach rm v'],
    ],
    [
      'ask',
      ['allow bash(git *)'],
      ["git -c alias.x='!rm v' x", 'git --exec-path=. x', 'git difftool -x rm', 'git grep -Orm x'],
    ],
    [
      'ask',
      ['allow bash(tar *)'],
      ["tar -I 'rm v' -xf a", "tar --checkpoint-action=exec='rm v' -xf a", 'tar xIf rm a'],
    ],
    [
      'allow',
      ['allow bash(tar *)', 'allow bash(npm *)', 'allow bash(git *)'],
      ['tar -xf a.tar', 'npm test', 'git push'],
    ],
  ])
})

test('a rule for what a launcher starts allows it, and so does a rule for that command', () => {
  checkLines([
    ['allow', ['allow bash(timeout 60 npm test *)'], ['timeout 60 npm test', 'timeout 60 npm test -- a']],
    ['ask', ['allow bash(timeout * npm test)'], ['timeout 5 rm -rf x npm test', 'timeout 5 npm test']],
    ['allow', ['allow bash(timeout 5 rm v)'], ['timeout 5 rm v']],
    [
      'allow',
      ['allow bash(timeout *)', 'allow bash(npm test *)'],
      ['timeout 60 npm test', 'timeout -k 5 60s npm test a'],
    ],
    [
      'ask',
      ['allow bash(timeout *)', 'allow bash(npm test *)'],
      ['timeout --unknown npm test 5 rm v', 'timeout npm test'],
    ],
    ['allow', ['allow bash(xargs *)', 'allow bash(grep *)'], ['xargs -0 -n 5 grep x', 'xargs grep -c x']],
    ['ask', ['allow bash(xargs *)', 'allow bash(grep x)'], ['xargs grep x']],
    ['ask', ['allow bash(xargs *)', 'allow bash(grep *)'], ['xargs -I{} grep {} x', 'xargs -a f grep']],
    ['allow', ['allow bash(env *)', 'allow bash(make *)'], ['env make', 'env A=b make all']],
    [
      'ask',
      ['allow bash(env *)', 'allow bash(make *)'],
      ['env LD_PRELOAD=x make', 'env -u A make', 'env --split-string=make'],
    ],
    [
      'allow',
      ['allow bash(npx tsc *)', 'allow bash(npm exec tsc *)', 'allow bash(sudo apt *)'],
      ['npx tsc -p .', 'npm exec tsc a', 'sudo apt update'],
    ],
    [
      'ask',
      ['allow bash(npm exec -c *)', 'allow bash(git rebase -x make *)'],
      ['npm exec -c rm', "git rebase -x make -x 'rm v'"],
    ],
    ['allow', ['allow bash', 'allow bash(timeout *)'], ['timeout 5 rm v']],
    ['allow', ['allow bash(sh *)', 'allow bash(ssh *)'], ["sh -c 'rm v'", 'ssh host rm v']],
  ])
})

test('nested launchers, options and variables hide nothing from a deny rule', () => {
  const rules = ['deny bash(rm *)']
  checkLines(
    [
      [
        'deny',
        rules,
        ['linux64 rm v', 'x86_64 rm v', 'i386 rm v', "capsh -- -c 'rm v'", "split --filter='rm v' f"],
      ],
      [
        'deny',
        rules,
        ["tar --checkpoint-action=exec='rm v' f", 'npm exec -- rm v', "npm exec -c 'rm v'", 'npm x rm v'],
      ],
      [
        'deny',
        rules,
        [
          'git bisect run rm v',
          "git rebase -x 'rm v' a",
          "git rebase --exec='rm v' a",
          "git rebase -x'rm v' a",
        ],
      ],
      [
        'deny',
        rules,
        [
          "git submodule foreach 'rm v'",
          'git submodule --quiet foreach rm v',
          'start-stop-daemon -x /bin/rm',
        ],
      ],
      [
        'deny',
        rules,
        [
          'start-stop-daemon --start --exec /bin/rm -- v',
          "rsync -e'rm v' a b",
          "sort --compress-program='rm v' a",
        ],
      ],
      [
        'ask',
        rules,
        [
          'find . -maxdepth 0 -exec xargs -a cmdlist env \\;',
          'env BASH_ENV=s2.sh bash -c true',
          'env PATH=. ls',
        ],
      ],
      [
        'ask',
        rules,
        ['tmux new x', 'crabtalk send --yolo x', 'crabtalk send x', 'claude -p x', "git -c alias.x='!x' x"],
      ],
      ['deny', rules, ['screen -dm rm v']],
      [
        'allow',
        rules,
        [
          'npm rm x',
          'npm run exec',
          'git -c user.name=x commit',
          'tar -xf a',
          'split f',
          'crabtalk --version',
          'env A=b ls',
        ],
      ],
      ['allow', rules, ['find . -exec grep x {} +']],
    ],
    { mode: 'all' },
  )
})
