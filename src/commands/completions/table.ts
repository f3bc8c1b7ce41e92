import type { Command } from '../../cli/command.ts'

/**
 * Returns the rows for `completions`, and for the hidden command that its scripts call while the user types.
 */
export function completionCommands(program: 'crabtalk' | 'crabup'): readonly Command[] {
  return [
    {
      path: ['completions'],
      args: '<shell>',
      kinds: ['shell'],
      summary: 'Print completions for bash, zsh, fish or powershell',
      details: `Set this up once; updates need no new script, because it asks ${program} for the completions.

  bash        echo 'eval "$(${program} completions bash)"' >> ~/.bashrc
  zsh         echo 'source <(${program} completions zsh)' >> ~/.zshrc
  fish        ${program} completions fish > ~/.config/fish/completions/${program}.fish
  powershell  Add-Content $PROFILE '${program} completions powershell | Out-String | Invoke-Expression'

Open a new shell afterwards.`,
      options: [],
      examples: [`eval "$(${program} completions bash)"`, `${program} completions fish`],
      load: async () => (await import('./commands.ts')).completionsCommand,
    },
    {
      path: ['__complete'],
      args: '<count> [...words]',
      rawFrom: -1,
      summary: 'List completions of the last of COUNT words',
      options: [],
      examples: [`${program} __complete 1 ver`],
      hidden: true,
      load: async () => (await import('./commands.ts')).completeCommand,
    },
  ]
}
