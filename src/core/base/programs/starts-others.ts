import { CONSOLES, INTERPRETERS } from './interpreter-names.ts'
import { LAUNCHERS, SHELL_PROGRAMS, SUB_LAUNCHERS } from './launcher-names.ts'

/**
 * Whether the arguments of a program decide which program or code runs: a shell, an interpreter, a launcher,
 * a package runner or a container engine. Accepts a name or a path.
 */
export function startsOthers(command: string): boolean {
  const [, name = ''] = /([^/\\]*)$/.exec(command.toLowerCase()) ?? []
  const plain = name.replace(/\.(?:exe|cmd|bat|ps1)$/, '')
  const isKnown = SHELL_PROGRAMS.has(plain) || LAUNCHERS.has(plain) || SUB_LAUNCHERS.has(plain)
  return isKnown || INTERPRETERS.test(plain) || CONSOLES.test(plain) || RUNNERS.test(plain)
}

/** Package runners, version managers, container engines, language runtimes and build tools. */
const RUNNERS =
  /^(uv|pipx|pip-run|poetry|pdm|hatch|rye|pixi|pipenv|conda|mamba|micromamba|docker|podman|nerdctl|container|lima|limactl|kubectl|oc|apptainer|singularity|flatpak|distrobox(-enter)?|toolbox|vagrant|wsl|cmd|cscript|wscript|pythonw?[\d.]*|pyw?|javaw?|jbang|dotnet|mono|wine(64)?|cargo|go|make|gmake|just|task|rake|bundle|mise|asdf|rtx|volta|fnm|nvm|corepack|pnpx|yarnpkg|tsx|nix(-shell|-env|-build)?|guix|devbox|dotenvx?|op|doppler|infisical|aws-vault|chamber|mcp-proxy|mcp-remote|supergateway|g?awk|mawk|m4|dc|gnuplot|openssl|tclsh[\d.]*|wasmtime|wasmer|qemu-.*|ld(-linux.*)?\.so.*)$/
