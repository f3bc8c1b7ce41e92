import { test } from 'node:test'
import { checkLines } from '../../support/policy-lines.ts'

const RULES = ['allow bash', 'deny bash(git push *)', 'ask bash(rm *)']

test('what cannot hide a command name is allowed where a narrower rule restricts others', () => {
  checkLines([
    [
      'allow',
      RULES,
      ['ls > f', 'ls >> f 2>&1', '2> f ls', 'cat < f | sort >out', 'ls >f; pwd', "ls > 'a b'"],
    ],
    ['allow', RULES, ['FOO=1 npm --version', 'A=1 B="x y" ls', 'NODE_ENV=test npm test >log', 'CI= ls']],
    ['allow', RULES, ['echo $HOME', 'echo "$HOME"', `ls "a \${X} b" \${Y}c`, 'cp "$A" $B', 'git log $X']],
    ['allow', RULES, ['git -C "$D" log', 'ls "\\$(x) $Y"', 'echo $A$B"$C"']],
  ])
})

test('a restricting rule sees the commands between redirections, variables and parameters', () => {
  checkLines([
    ['deny', RULES, ['git push > f', 'FOO=1 git push', '> f git push', 'ls > f; git push', 'git push $X']],
    ['deny', RULES, ['git push "$X"', 'FOO=1 /bin/git -C . push', 'A=b sudo git push', 'git -C "$D" push']],
    ['ask', RULES, ['rm x > f', 'A=1 rm $X', 'ls $X && rm y']],
  ])
  checkLines([['deny', ['deny bash(git push *)'], ['git push > f', 'FOO=1 git push']]], {
    mode: 'all',
    trust: 'local',
  })
})

test('an unknown value asks where a rule may match it', () => {
  checkLines([
    [
      'ask',
      RULES,
      ['git $X', 'git "$X"', 'git $X log', `git pus\${H}`, 'git -C $D log', 'git "-C$D" log', 'git $A push'],
    ],
    ['ask', ['allow bash', 'deny bash(git push)'], ['git push $X', 'git push$X', 'git $X']],
    ['ask', ['allow bash', 'deny bash(* --force)'], ['echo $X', 'npm "$X"']],
    ['ask', RULES, ['$X', '"$X" y', `\${X}m y`, 'FOO=1 $X', 'r$X y', 'FOO=$X ls', 'ls > $X']],
    [
      'ask',
      RULES,
      ['sh -c $X', 'sh -c "$X"', 'xargs $X', 'find . $X', 'env $X', 'command $X', 'eval $X', 'sudo "$X"'],
    ],
    ['ask', RULES, ['printf $X y', 'test $X', `FOO='rm x' sh -c '$FOO'`, 'sh < f', 'ls | sh > f']],
  ])
})

test('all other shell syntax still asks', () => {
  checkLines([
    ['ask', RULES, ['PATH=. ls', 'LD_PRELOAD=x ls', 'BASH_ENV=x ls', 'ENV=x ls', 'IFS=x ls', 'GIT_SSH=x ls']],
    [
      'ask',
      RULES,
      ['PROMPT_COMMAND=x ls', 'SHELLOPTS=x ls', 'PAGER=x ls', 'EDITOR=x ls', 'A+=1 ls', 'a[0]=1 ls'],
    ],
    ['ask', RULES, ['FOO=1', 'FOO=$(x) ls', 'FOO=~ ls', '"FOO=1" ls', 'FOO=1 export A']],
    ['ask', RULES, ['ls &> f', 'ls >& f', 'ls >| f', 'cat <> f', 'cat << E\nx\nE', 'cat <<< x', 'ls > >(x)']],
    [
      'ask',
      RULES,
      ['cat <(x)', 'ls 12> f', '{a}> f ls', 'ls > *', 'ls > /dev/tcp/a/1', '> f', 'ls >', 'ls > ~/f'],
    ],
    [
      'ask',
      RULES,
      ['echo $(x)', 'echo "$(x)"', 'echo `x`', 'echo "$X `y`"', `echo \${X:-y}`, `echo "\${!X}"`, 'echo $1'],
    ],
    ['ask', RULES, ['echo $((1))', "echo $'x'", 'echo "$X$(y)"', 'echo "$X', 'echo {$X,a}']],
  ])
})

test('a rule for some commands allows none of them with a redirection, a variable or a parameter', () => {
  checkLines([['ask', ['allow bash(ls *)'], ['ls > f', 'A=1 ls', 'ls $X', 'ls "$X"', 'ls < f']]])
})
