import type { Shell } from './shells.ts'

/** Returns the completion script of a shell for a program; the script queries the program for candidates. */
export function scriptFor(shell: Shell, program: string): string {
  return SCRIPTS[shell].replaceAll('PROGRAM', program)
}

/**
 * The script for bash, which splits words at `=` and `:`: it joins the parts that no space separates, and
 * replaces only the last part.
 */
const BASH = `# PROGRAM completions for bash: eval "$(PROGRAM completions bash)" in ~/.bashrc
_PROGRAM_complete() {
  local line=\${COMP_LINE:0:COMP_POINT} rest word kind='' reply value prefix at n=-1
  local -a words=()
  for ((at = 0; at <= COMP_CWORD; at++)); do
    rest=\${line#"\${line%%[![:space:]]*}"}
    if [[ $at -eq 0 || $rest != "$line" ]]; then
      n=$((n + 1))
      words[n]=
    fi
    word=\${COMP_WORDS[at]}
    if [[ $at -eq $COMP_CWORD ]]; then word=$rest; fi
    words[n]+=$word
    line=\${rest#"$word"}
  done
  prefix=\${words[n]%"$2"}
  COMPREPLY=()
  while IFS= read -r reply; do
    if [[ -z $kind ]]; then
      kind=$reply
      continue
    fi
    value=\${reply%%$'\\t'*}
    printf -v value %q "\${value#"$prefix"}"
    COMPREPLY+=("$value")
  done < <(command PROGRAM __complete "$n" "\${words[@]:1}" 2>/dev/null)
  case $kind in
    files) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$2")) ;;
    folders) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "$2")) ;;
  esac
}
complete -F _PROGRAM_complete PROGRAM
`

const ZSH = `#compdef PROGRAM
# PROGRAM completions for zsh: source <(PROGRAM completions zsh) in ~/.zshrc
_PROGRAM() {
  local reply
  local -a lines values descriptions
  lines=("\${(@f)$(command PROGRAM __complete $((CURRENT - 1)) "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  case $lines[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    *)
      for reply in "\${(@)lines[2,-1]}"; do
        [[ -n $reply ]] || continue
        values+=("\${reply%%$'\\t'*}")
        descriptions+=("\${reply/$'\\t'/  -- }")
      done
      compadd -l -d descriptions -a -- values
      ;;
  esac
}
if [[ $funcstack[1] == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _PROGRAM PROGRAM
fi
`

const FISH = `# PROGRAM completions for fish: in ~/.config/fish/completions/PROGRAM.fish
function __PROGRAM_complete
    set -l words (commandline -opc)
    set -l count (count $words)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (command PROGRAM __complete $count $words $current 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    switch "$kind"
        case files
            __fish_complete_path "$path" | string replace -r -- '^' "$prefix"
        case folders
            __fish_complete_directories "$path" | string replace -r -- '^' "$prefix"
        case '*'
            string join \\n -- $lines
    end
end
complete -c PROGRAM -e
complete -c PROGRAM -f -k -a '(__PROGRAM_complete)'
`

/**
 * The script for PowerShell, which offers files by itself when nothing matches. It takes typographic quotes
 * for quotes, and a leading `@` for a variable.
 */
const POWERSHELL = `# PROGRAM completions for PowerShell: PROGRAM completions powershell | Out-String | Invoke-Expression in $PROFILE
Register-ArgumentCompleter -Native -CommandName PROGRAM -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
    $lines = @(& PROGRAM __complete ($words.Count + 1) @words $wordToComplete 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $text = $_ -split "\`t", 2
        if (-not $text) { $text = $value }
        $literal = [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($value)
        $typed = if ($value -match '^@|[^\\w./:=@+-]') { "'" + $literal + "'" } else { $value }
        [System.Management.Automation.CompletionResult]::new($typed, $value, 'ParameterValue', $text)
    }
}
`

const SCRIPTS: Record<Shell, string> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }
