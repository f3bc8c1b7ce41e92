import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { CrabError } from '../../src/core/base/errors.ts'
import { mainMenu } from '../../src/tui/slash/connect-menus.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import type { KeyName } from '../../src/tui/text/key.ts'
import { GOLDEN_CWD, GOLDEN_DISPATCH, GOLDEN_NOW, GOLDEN_SESSION } from '../support/golden-facts.ts'
import { assertGoldenView } from '../support/golden-frame.ts'
import { GOLDEN_PROVIDERS, GOLDEN_SCHEDULES, GOLDEN_SETUP } from '../support/golden-setup.ts'
import { type OpenChat, openTestChat } from '../support/open-chat.ts'

/** A view: its name, the line that opens it, and then the keys. */
type View = readonly [name: string, line: string, ...keys: string[]]

/** Every view that covers the composer. */
const OVERLAYS: readonly View[] = [
  ['help', '/help'],
  ['keys', '/keys'],
  ['keys-search', '/keys', 'type:word'],
  ['model', '/model'],
  ['model-agent-effort', '/model', 'down', 'right', 'tab'],
  ['effort', '/effort'],
  ['theme', '/theme', 'down'],
  ['config', '/config'],
  ['config-choice', '/config', 'enter'],
  ['config-status', '/config status', 'down'],
  ['approvals', '/approvals'],
  ['yolo', '/yolo'],
  ['permissions', '/permissions', 'down', 'down', 'down'],
  ['permissions-delete', '/permissions', 'down', 'type:d'],
  ['permissions-matches', '/permissions', 'down', 'type:m'],
  ['agents', '/agents'],
  ['agents-end', '/agents', 'type:x'],
  ['asks', '/asks'],
  ['resume', '/resume'],
  ['search', '/search bad'],
  ['search-sent', 'ctrl+r'],
  ['memory', '/memory'],
  ['memory-entry', '/memory show wifi', 'type:d'],
  ['rewind', '/rewind'],
  ['rewind-how', '/rewind', 'down', 'enter'],
  ['mcp', '/mcp'],
  ['mcp-problem', '/mcp', 'down'],
  ['tools', '/tools'],
  ['skills', '/skills'],
  ['events', '/events'],
  ['trace', '/trace github'],
  ['usage', '/usage'],
  ['usage-model', '/usage model'],
  ['cron', '/cron', 'down'],
  ['cron-entry', '/cron', 'enter'],
  ['doctor', '/doctor'],
  ['btw', '/btw what is a lease?'],
  ['connect', '/connect'],
  ['connect-another', '/connect', 'type:5', 'enter'],
  ['connect-key', '/connect anthropic', 'type:sk-ant-1234'],
  ['connect-address', '/connect azure'],
  ['connect-failed', '/connect anthropic', 'type:sk-ant-1234', 'enter'],
  ['connect-model', '/connect ollama'],
]

/** Every command that prints a table above the composer. */
const PRINTED: readonly View[] = [
  ['context', '/context'],
  ['status', '/status'],
  ['cost', '/cost'],
  ['diff', '/diff'],
  ['permissions-call', '/permissions bash(git push)'],
]

/** Drafts in the composer, with the menus that they open. */
const DRAFTS: readonly View[] = [
  ['draft', 'empty'],
  ['draft-lines', 'type:first line', 'newline', 'type:second line'],
  ['draft-commands', 'type:/co'],
  ['draft-skill', 'type:/exp'],
  ['draft-files', 'type:look at @src'],
  ['draft-agents', 'type:@rev'],
  ['draft-note', 'type:#the prod db is on db3'],
  ['draft-shell', 'type:!npm test'],
  ['draft-paste', `paste:${'a line of a log\n'.repeat(50)}`, 'type:what is wrong here?'],
  ['draft-mode', 'shift+tab'],
  ['draft-plan', 'shift+tab', 'shift+tab'],
]

/** Views with other colors than those of text, titles and hints. */
const COLORED: ReadonlySet<string> = new Set([
  'agents',
  'config',
  'theme',
  'search',
  'context',
  'diff',
  'model',
])

for (const view of [...OVERLAYS, ...PRINTED]) {
  const [name, ...steps] = view
  test(`${steps.join(', ')} looks as in golden/chat/views/${name}.txt`, async () => {
    await using chat = await openGoldenChat()
    const [line = '', ...keys] = steps
    await open(chat, line)
    for (const one of keys) await press(chat, one)
    await assertGoldenView(name, toGoldenState(chat.state()), { hasColors: COLORED.has(name) })
    chat.press('escape')
  })
}

test('the offer to connect looks as in golden/chat/views/connect-offer.txt', async () => {
  const items = GOLDEN_PROVIDERS
  const overlay = mainMenu(items, { title: 'No model yet. Connect one:', yieldsToText: true })
  await using chat = await openGoldenChat()
  await assertGoldenView('connect-offer', { ...chat.state(), place: 'process', overlay })
})

for (const [name, ...keys] of DRAFTS) {
  test(`the composer looks as in golden/chat/views/${name}.txt`, async () => {
    await using chat = await openGoldenChat({ hasCommands: true })
    await import('../../src/tui/slash/commands.ts')
    await settle()
    for (const one of keys) await press(chat, one)
    await assertGoldenView(name, toGoldenState(chat.state()))
  })
}

async function openGoldenChat({ hasCommands = false } = {}): Promise<OpenChat> {
  return await openTestChat([], {
    hasCommands,
    options: { model: 'opus-5.5', session: GOLDEN_SESSION, sender: 'sh:1' },
    ports: {
      ...{ dispatch: GOLDEN_DISPATCH, cwd: GOLDEN_CWD, shownCwd: '~/web', now: () => GOLDEN_NOW },
      abbreviate: (path) => path.replace('/home/ann', '~'),
      providers: {
        list: async () => GOLDEN_PROVIDERS,
        tryProvider: async (input) => {
          if (input?.apiKey !== undefined)
            throw new CrabError('credentials', 'Cannot connect Anthropic: invalid x-api-key (401)', {
              hint: 'create a key on https://console.anthropic.com/settings/keys, and paste it again',
            })
          return { names: ['llama3.2', 'qwen3:30b-a3b-instruct-2507-q4_K_M'], usual: 'llama3.2' }
        },
        save: async () => ({ model: undefined, place: 'saved in config.toml' }),
        claimFirstOffer: async () => false,
      },
      schedules: {
        list: async () => ({ entries: GOLDEN_SCHEDULES, notes: [] }),
        run: async () => ({ answer: '', session: '' }),
        remove: async () => {},
      },
      checkSetup: async () => GOLDEN_SETUP,
      findFiles: async () => [
        'src/',
        'src/util.ts',
        'src/x.ts',
        'test/a/very/long/path/to/the/tests/of/src/util.test.ts',
      ],
      readHistory: async () => [
        { text: 'what does src/util.ts export?', pasted: [] },
        { text: 'the test of add() fails, fix it,\nand say why', pasted: [] },
      ],
    },
  })
}

/** Types the line that opens a view, and waits until it is open and complete. */
async function open(chat: OpenChat, line: string): Promise<void> {
  if (line.startsWith('ctrl+')) chat.press('text', { text: line.slice(5), ctrl: true })
  else {
    chat.type(line)
    chat.press('escape') // closes the menu of commands
    chat.press('enter')
  }
  await chat.until(({ overlay, isOverlayArmed, finished }) =>
    overlay ? isOverlayArmed : finished.length > 0,
  )
  await settle()
}

async function press(chat: OpenChat, name: string): Promise<void> {
  if (name.startsWith('type:')) chat.type(name.slice('type:'.length))
  else if (name.startsWith('paste:')) chat.press('paste', { text: name.slice('paste:'.length) })
  else if (name === 'newline') chat.press('enter', { shift: true })
  else if (name === 'shift+tab') chat.press('tab', { shift: true })
  else if (name !== 'empty') chat.press(name as KeyName)
  await settle()
}

/** Lets the answers arrive, which take no time here. */
async function settle(): Promise<void> {
  for (let round = 0; round < 10; round++) await setImmediate()
}

/** Returns the state with what a chat learns when it opens a conversation. */
function toGoldenState(state: ChatState): ChatState {
  const last = { promptTokens: 61_000, completionTokens: 1_400, totalTokens: 62_400 }
  return {
    ...{ ...state, place: 'daemon', branch: 'main', title: 'Refuse NaN in add()' },
    usage: { ...state.usage, last, context: 200_000 },
  }
}
