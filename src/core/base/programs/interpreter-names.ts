/** Programs that run the code of a file, of a word or of their input, besides shells. */
export const INTERPRETERS =
  /^(node|nodejs|deno|bun|tsx|ts-node|i?python[\d.]*|bpython|pypy[\d.]*|perl[\d.]*|i?ruby[\d.]*|irb|php[\d.]*|lua(jit|[\d.]*)|rscript|r|osascript|julia|tclsh[\d.]*|wish|expect|guile|racket|ghci|runghc|runhaskell|elixir|iex|erl|escript|scala|groovy|jshell|swift|pwsh|powershell|nu|xonsh|elvish)$/

/** Programs that take commands from their input, one of which starts programs. */
export const CONSOLES =
  /^(psql|mysql|mariadb|sqlite3?|duckdb|mongo|mongosh|gdb|lldb|ed|ex|ftp|sftp|at|batch|m4|dc|gnuplot|crontab)$/

/** Consoles that read their input only when no file is named. */
export const FILE_CONSOLES = /^(m4|dc|gnuplot|crontab)$/

/** Programs that start another one, or run a script, behind the sub-command that RUNS matches. */
export const RUNNERS_WITH_COMMAND =
  /^(uv|deno|bun|poetry|pdm|hatch|rye|pixi|pipx|conda|mamba|micromamba|docker|podman|nerdctl|kubectl|oc)$/
export const RUNS = /^(run|exec|x|compose)$/
