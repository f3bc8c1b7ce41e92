import { addDirectory } from './add-dir.ts'
import { background, showAgents } from './agents.ts'
import { confirmYolo, slashApprovals } from './approvals.ts'
import { showAsks } from './asks.ts'
import { changeDirectory } from './cd.ts'
import { slashCompact } from './compact.ts'
import { slashConnect } from './connect.ts'
import { showContext } from './context.ts'
import { resume, slashTitle, startNew } from './conversations.ts'
import { showCron } from './cron.ts'
import { slashDiff } from './diff.ts'
import { showDoctor } from './doctor.ts'
import { showEvents } from './events.ts'
import { copyAnswer, slashExport } from './export.ts'
import { slashFork } from './fork.ts'
import { showHelp } from './help.ts'
import { initInstructions } from './init.ts'
import { showKeys } from './keys.ts'
import { slashLogin } from './login.ts'
import { showMcp } from './mcp.ts'
import { showMemory } from './memory.ts'
import { slashEffort, slashModel } from './models.ts'
import { showPermissions } from './permissions.ts'
import { hint, printNotice } from './print.ts'
import { showQueue } from './queue.ts'
import { reviewChanges } from './review.ts'
import { slashRewind } from './rewind.ts'
import { searchConversations } from './search.ts'
import { slashConfig } from './settings.ts'
import { askAside } from './side-question.ts'
import { showSkills } from './skills.ts'
import { showStatus } from './status.ts'
import { slashTheme } from './themes.ts'
import { showTools } from './tools.ts'
import { showTrace } from './trace.ts'
import type { SlashCommand, SlashContext } from './types.ts'
import { slashUndo } from './undo.ts'
import { showCost } from './usage.ts'
import { showUsage } from './usage-report.ts'

export type { SlashCommand, SlashContext } from './types.ts'

/** Every slash command, in the order of the help page. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    args: '',
    summary: 'commands and keys',
    whileBusy: true,
    run: (_, context) => showHelp(SLASH_COMMANDS, context),
  },
  {
    name: 'new',
    aliases: ['clear'],
    args: '',
    summary: 'start a new conversation; the old one stays in /resume',
    whileBusy: true,
    run: startNew,
  },
  {
    name: 'resume',
    aliases: ['continue', 'sessions'],
    args: '[AGENT] [TEXT]',
    summary: 'continue an earlier conversation',
    whileBusy: true,
    run: resume,
  },
  {
    name: 'search',
    args: '[WORDS]',
    summary: 'search the text of all conversations',
    whileBusy: true,
    run: searchConversations,
  },
  {
    name: 'memory',
    args: '[WORDS]',
    summary: "the agent's memory; show NAME, forget NAME",
    whileBusy: true,
    run: showMemory,
  },
  {
    name: 'agents',
    args: '[NAME]',
    summary: 'running, asking and finished conversations; talk to another agent',
    whileBusy: true,
    run: showAgents,
  },
  {
    name: 'background',
    aliases: ['bg'],
    args: '',
    summary: 'put the running turn into the background and start a new conversation',
    whileBusy: true,
    run: background,
  },
  {
    name: 'connect',
    args: '[PROVIDER]',
    summary: 'connect a model provider: key, address, model',
    whileBusy: true,
    run: slashConnect,
  },
  {
    name: 'model',
    args: '[NAME] [EFFORT]',
    summary: 'model and effort: for this conversation, agent NAME, default NAME',
    whileBusy: true,
    run: slashModel,
  },
  {
    name: 'effort',
    args: '[LEVEL]',
    summary: 'how much the model reasons, in this conversation',
    whileBusy: true,
    run: slashEffort,
  },
  {
    name: 'mcp',
    args: '[add|view]',
    summary: 'MCP servers: state, who decided, tools, logs, restart, add one',
    whileBusy: true,
    run: showMcp,
  },
  {
    name: 'login',
    args: 'NAME',
    summary: 'log in to a remote MCP server, in your browser',
    whileBusy: true,
    run: slashLogin,
  },
  { name: 'tools', args: '', summary: 'the tools of the agent', whileBusy: true, run: showTools },
  { name: 'skills', args: '', summary: 'the skills of the agent', whileBusy: true, run: showSkills },
  {
    name: 'permissions',
    args: '[CALL]',
    summary: 'show, add and remove rules; or test a call such as bash(git push)',
    whileBusy: true,
    run: showPermissions,
  },
  {
    name: 'approvals',
    args: '[MODE]',
    summary: 'what runs without asking: ask, edits, plan or read-only',
    whileBusy: true,
    run: slashApprovals,
  },
  {
    name: 'yolo',
    args: '',
    summary: 'allow everything that no rule denies, until Shift+Tab',
    whileBusy: true,
    run: (_, context) => confirmYolo(context),
  },
  {
    name: 'compact',
    args: '[FOCUS|undo]',
    summary: 'replace the history with a summary, such as: focus on the API; undo brings it back',
    whileBusy: false,
    run: slashCompact,
  },
  {
    name: 'rewind',
    args: '[TEXT]',
    summary: 'go back to one of your messages; restores files if you like (Esc Esc)',
    whileBusy: false,
    run: slashRewind,
  },
  {
    name: 'fork',
    args: '[TITLE]',
    summary: 'continue in a copy of the conversation',
    whileBusy: false,
    run: slashFork,
  },
  {
    name: 'diff',
    args: '',
    summary: 'what this conversation changed, file by file',
    whileBusy: true,
    run: slashDiff,
  },
  {
    name: 'undo',
    args: '[dry-run]',
    summary: 'undo the file changes of the last turn (edit and write)',
    whileBusy: false,
    run: slashUndo,
  },
  {
    name: 'init',
    args: '',
    summary: 'have the agent write an AGENTS.md for this repository, or improve it',
    yieldsToSkill: true,
    whileBusy: false,
    run: initInstructions,
  },
  {
    name: 'review',
    args: '[BASE|WHAT]',
    summary: 'have the agent review the uncommitted changes, or those since a branch',
    yieldsToSkill: true,
    whileBusy: false,
    run: reviewChanges,
  },
  {
    name: 'btw',
    args: 'QUESTION',
    summary: 'ask a side question, even during a turn; it is not stored',
    whileBusy: true,
    run: askAside,
  },
  {
    name: 'title',
    aliases: ['rename'],
    args: '[TEXT]',
    summary: 'name the conversation',
    whileBusy: true,
    run: slashTitle,
  },
  {
    name: 'copy',
    args: '[N]',
    summary: 'copy the last answer, or the Nth last',
    whileBusy: true,
    run: copyAnswer,
  },
  {
    name: 'export',
    args: '[FILE]',
    summary: 'write the conversation to a file, as Markdown or HTML (.html)',
    whileBusy: true,
    run: slashExport,
  },
  {
    name: 'asks',
    args: '',
    summary: 'pending questions of other conversations',
    whileBusy: true,
    run: showAsks,
  },
  { name: 'context', args: '', summary: 'what fills the context', whileBusy: true, run: showContext },
  { name: 'cost', args: '', summary: 'the tokens and cost of this chat', whileBusy: true, run: showCost },
  {
    name: 'cd',
    args: 'DIR',
    summary: 'work in another directory, in this conversation',
    whileBusy: false,
    run: changeDirectory,
  },
  {
    name: 'add-dir',
    args: '[DIR]',
    summary: 'treat files of another directory like those of the working directory',
    whileBusy: true,
    run: addDirectory,
  },
  {
    name: 'queue',
    args: '',
    summary: 'queued messages: edit, move, drop',
    whileBusy: true,
    run: showQueue,
  },
  {
    name: 'cron',
    args: '[ACTION ID]',
    summary: 'the schedules: next run and last result; show, run, open, remove',
    whileBusy: true,
    run: showCron,
  },
  {
    name: 'events',
    args: '',
    summary: 'published events and the agents they start',
    whileBusy: true,
    run: showEvents,
  },
  {
    name: 'trace',
    args: '[SERVER]',
    summary: 'messages between the daemon and MCP servers, live',
    whileBusy: true,
    run: showTrace,
  },
  {
    name: 'usage',
    args: '[GROUP]',
    summary: 'tokens and cost of the last 30 days, by day, model, agent or directory',
    whileBusy: true,
    run: showUsage,
  },
  {
    name: 'doctor',
    args: '[fix|deep]',
    summary: 'check this installation and suggest fixes',
    whileBusy: true,
    run: showDoctor,
  },
  {
    name: 'status',
    args: '',
    summary: 'the agent, conversation, model, directory and instruction files',
    whileBusy: true,
    run: showStatus,
  },
  {
    name: 'details',
    args: '',
    summary: 'show or hide the input and output of tools',
    whileBusy: true,
    run: (_, context) => toggle('details', context),
  },
  {
    name: 'thinking',
    args: '',
    summary: 'thinking on or off',
    whileBusy: true,
    run: (_, context) => toggle('thinking', context),
  },
  {
    name: 'config',
    aliases: ['settings'],
    args: '[KEY [VALUE]]',
    summary: 'the settings of the chat',
    whileBusy: true,
    run: slashConfig,
  },
  {
    name: 'theme',
    args: '[NAME]',
    summary: 'the colors, with a preview',
    whileBusy: true,
    run: slashTheme,
  },
  {
    name: 'keys',
    args: '[WORDS]',
    summary: 'show and search the active key bindings',
    whileBusy: true,
    run: showKeys,
  },
  {
    name: 'fullscreen',
    args: '',
    summary: 'switch between the full screen and the normal scrollback',
    whileBusy: true,
    run: (_, context) => toggleFullscreen(context),
  },
  {
    name: 'plain',
    args: '',
    summary: 'plain lines instead of a screen: crabtalk chat --plain',
    whileBusy: true,
    run: (_, context) =>
      printNotice(
        context,
        'info',
        'A running chat cannot switch to plain lines',
        'leave, and run crabtalk chat --plain',
      ),
  },
  {
    name: 'quit',
    aliases: ['exit'],
    args: '',
    summary: 'leave the chat',
    whileBusy: true,
    run: (_, context) => context.leave(),
  },
]

function toggleFullscreen(context: SlashContext): void {
  const isFullscreen = !context.state().isFullscreen
  context.act({ type: 'set', change: { isFullscreen } })
  hint(
    context,
    isFullscreen
      ? 'Ctrl+O shows earlier messages; /fullscreen goes back'
      : 'The conversation is in the scrollback',
  )
}

function toggle(what: 'details' | 'thinking', context: SlashContext): void {
  const isOn = !context.state()[what]
  context.act({ type: 'set', change: { [what]: isOn } })
  hint(context, `${what} ${isOn ? 'on' : 'off'}`)
}
