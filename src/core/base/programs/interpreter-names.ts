/** Programs other than shells that run code from a file, an argument or their input. */
export const INTERPRETERS =
  /^(node|nodejs|deno|bun|tsx|ts-node|i?python[\d.]*|bpython|pypy[\d.]*|perl[\d.]*|i?ruby[\d.]*|irb|php[\d.]*|lua(jit|[\d.]*)|rscript|r|osascript|julia|tclsh[\d.]*|wish|expect|guile|racket|ghci|runghc|runhaskell|elixir|iex|erl|escript|scala|groovy|jshell|swift|pwsh|powershell|nu|xonsh|elvish)$/

/** Programs that read commands from their input and can start other programs that way. */
export const CONSOLES =
  /^(psql|mysql|mariadb|sqlite3?|duckdb|mongo|mongosh|gdb|lldb|ed|ex|ftp|sftp|at|batch|m4|dc|gnuplot|crontab)$/

/** Consoles that read their input only when the command line names no file. */
export const FILE_CONSOLES = /^(m4|dc|gnuplot|crontab)$/

/** Programs that start another program or a script after a subcommand matched by RUNS. */
export const RUNNERS_WITH_COMMAND =
  /^(uv|deno|bun|poetry|pdm|hatch|rye|pixi|pipx|conda|mamba|micromamba|docker|podman|nerdctl|kubectl|oc)$/
/** The subcommands of RUNNERS_WITH_COMMAND that start the program or script after them. */
export const RUNS = /^(run|exec|x|compose)$/
