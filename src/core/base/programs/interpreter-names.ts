/** Programs that run the code of a file, of a word or of their input, besides shells. */
export const INTERPRETERS =
  /^(node|nodejs|deno|bun|tsx|ts-node|i?python[\d.]*|bpython|pypy[\d.]*|perl[\d.]*|i?ruby[\d.]*|irb|php[\d.]*|lua(jit|[\d.]*)|rscript|r|osascript|julia|tclsh[\d.]*|wish|expect|guile|racket|ghci|runghc|runhaskell|elixir|iex|erl|escript|scala|groovy|jshell|swift|pwsh|powershell|nu|xonsh|elvish)$/

/** Programs that take commands from their input, one of which starts programs. */
export const CONSOLES =
  /^(psql|mysql|mariadb|sqlite3?|duckdb|mongo|mongosh|gdb|lldb|ed|ex|ftp|sftp|at|batch)$/
