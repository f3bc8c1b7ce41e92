import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AskCard } from '../../../src/tui/cards/types.ts'
import { type KeyActions, press } from '../../../src/tui/controller/press.ts'
import { newPage } from '../../../src/tui/overlays/page.ts'
import { newPicker } from '../../../src/tui/overlays/picker.ts'
import { newSearch } from '../../../src/tui/overlays/search.ts'
import type { Overlay, Panel } from '../../../src/tui/overlays/types.ts'
import { Document } from '../../../src/tui/pager/document.ts'
import { newPager, pressPager } from '../../../src/tui/pager/pager.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import { ESC_ROWS, type EscAction, findEscAction } from '../../../src/tui/text/esc-key.ts'
import { NEW_VIM } from '../../../src/tui/text/vim/state.ts'
import { busyState, CHAT_OPTIONS } from '../../support/chat-state.ts'
import { formCard, key, permissionCard } from '../cards/card-fixtures.ts'
import { typed } from '../text/keys.ts'

const IDLE = initialState(CHAT_OPTIONS)
const BUSY = busyState()
const commands = [{ name: 'model', args: '', summary: 'another model' }]
const MENU = typed(['/mo'], { commands }).prompt
const DRAFT = typed(['draft']).prompt

const NORMAL = { ...NEW_VIM, mode: 'normal' as const }

const PICKER = newPicker({ picker: 'model', title: 'Model', items: [] })
const PANEL: Panel = {
  kind: 'panel',
  picker: 'mcp',
  title: 'MCP',
  header: [],
  rows: [],
  selected: 0,
  keys: [],
  note: '',
}
const SEARCH = newSearch({ scope: 'prompts', query: 'x', agent: 'crab', sent: [] })

const PERMISSION = permissionCard({ tool: 'bash', action: 'bash: rm x', rules: ['bash(rm *)'] })
const FORM = formCard([{ question: 'Which?', options: [{ label: 'yes' }, { label: 'no' }] }])
const SELECTED = { at: 1, by: 'arrows', typed: '', isEntered: false } as const

/** The states of the screen with the action of Esc in each, during a turn where that is possible. */
const STATES: readonly (readonly [string, EscAction, ChatState])[] = [
  ['a page that another overlay opened', 'return-to-overlay', withOverlay(newPage('Log', 'text', PANEL))],
  ['a page', 'close-overlay', withOverlay(newPage('Log', 'text'))],
  ['a picker', 'close-overlay', withOverlay(PICKER)],
  ['a panel', 'close-overlay', withOverlay(PANEL)],
  ['a search', 'close-overlay', withOverlay(SEARCH)],
  ['a card that waits for a reason', 'return-to-choices', withCard(PERMISSION, { isWriting: true })],
  ['a form that waits for own words', 'return-to-choices', withCard(FORM, { isWriting: true })],
  ['the details of a card', 'hide-details', withCard(PERMISSION, { hasDetails: true })],
  ['a permission', 'decline', withCard(PERMISSION, {})],
  ['a form', 'decline', withCard(FORM, {})],
  [
    'insert mode below a permission',
    'leave-insert',
    { ...withCard(PERMISSION, {}), prompt: { ...DRAFT, vim: NEW_VIM } },
  ],
  [
    'normal mode below a permission',
    'decline',
    { ...withCard(PERMISSION, {}), prompt: { ...DRAFT, text: '', vim: NORMAL } },
  ],
  [
    'a selection on a permission that is not armed',
    'clear-selection',
    withCard({ ...PERMISSION, isArmed: false }, { pick: SELECTED }),
  ],
  [
    'a selection on a form that is not armed',
    'clear-selection',
    withCard({ ...FORM, isArmed: false }, { pick: SELECTED }),
  ],
  ['a menu', 'close-menu', { ...BUSY, prompt: MENU, isCommanding: true }],
  ['a menu below a card', 'close-menu', { ...withCard(PERMISSION, {}), prompt: MENU }],
  ['a menu with vim keys', 'close-menu', { ...BUSY, prompt: { ...MENU, vim: NEW_VIM } }],
  ['insert mode during a turn', 'leave-insert', { ...BUSY, prompt: { ...DRAFT, vim: NEW_VIM } }],
  [
    'insert mode during a command',
    'leave-insert',
    { ...IDLE, isCommanding: true, prompt: { ...DRAFT, vim: NEW_VIM } },
  ],
  [
    'half a vim command',
    'cancel-command',
    { ...BUSY, prompt: { ...DRAFT, vim: { ...NORMAL, pending: '2d' } } },
  ],
  ['normal mode during a turn', 'interrupt', { ...BUSY, prompt: { ...DRAFT, vim: NORMAL } }],
  ['a running command', 'interrupt', { ...IDLE, prompt: DRAFT, isCommanding: true }],
  ['a running turn', 'interrupt', BUSY],
  ['a running turn and a draft', 'interrupt', { ...BUSY, prompt: DRAFT }],
  [
    'a running turn and a draft below a card',
    'confirm-clear',
    { ...withCard(PERMISSION, {}), prompt: DRAFT },
  ],
  ['a card that is not armed', 'nothing', withCard({ ...PERMISSION, isArmed: false }, {})],
  [
    'the details of a card that is not armed',
    'hide-details',
    withCard({ ...PERMISSION, isArmed: false }, { hasDetails: true }),
  ],
  [
    'the details of a card, and a draft',
    'hide-details',
    { ...withCard(PERMISSION, { hasDetails: true }), prompt: DRAFT },
  ],
  ['an overlay that does not get the keys yet', 'interrupt', { ...BUSY, overlay: PICKER }],
  ['a draft', 'confirm-clear', { ...IDLE, prompt: DRAFT }],
  ['a draft, after Esc', 'clear-draft', { ...IDLE, prompt: typed(['escape'], { prompt: DRAFT }).prompt }],
  ['an empty prompt', 'confirm-rewind', IDLE],
  [
    'an empty prompt, after Esc',
    'rewind',
    { ...IDLE, prompt: typed(['escape'], { prompt: IDLE.prompt }).prompt },
  ],
  ['the terminal being lent', 'nothing', { ...withOverlay(PICKER), isLent: true }],
]

for (const [where, does, state] of STATES) {
  test(`Esc: ${where}: ${does}`, () => assert.deepEqual(pressEsc(state), does))
}

test('Esc: the transcript: its search first, then the transcript', () => {
  const document = new Document({ columns: 80, rows: 24, color: false, details: true })
  const room = { document, rows: 24 }
  const pager = newPager(document, 24)
  const searching = pressPager(pager, '/', room).state
  assert.deepEqual(pressPager(searching, '\x1b', room), { state: pager })
  assert.deepEqual(pressPager(pager, '\x1b', room), { state: pager, command: 'close' })
})

test('findEscAction() returns the first row that applies', () => {
  const screen = {
    pager: { typing: '' },
    overlay: newPage('Log', 'text', PANEL),
    card: {
      ...PERMISSION,
      state: { ...PERMISSION.state, isWriting: true, hasDetails: true, pick: SELECTED },
    },
    prompt: { ...MENU, armed: 'clear' as const },
    isCommanding: true,
    isBusy: true,
  }
  assert.equal(findEscAction(screen), 'cancel-pager-search')
  const { pager, ...inChat } = screen
  assert.equal(findEscAction({ ...screen, pager: { typing: undefined } }), 'close-pager')
  assert.equal(findEscAction(inChat), 'return-to-overlay')
  const { overlay, ...uncovered } = inChat
  assert.equal(findEscAction(uncovered), 'return-to-choices')
  const { card, ...composer } = uncovered
  assert.equal(findEscAction(composer), 'close-menu')
  assert.equal(findEscAction({}), 'nothing')
})

test('every row of the table is tested here', () => {
  const tested = new Set<EscAction>(STATES.map(([, does]) => does))
  const missing = ESC_ROWS.map(({ does }) => does).filter((does) => !tested.has(does))
  assert.deepEqual(missing, ['cancel-pager-search', 'close-pager'])
})

/** Returns the action that one press of Esc performed, derived from the state and the effects. */
function pressEsc(before: ChatState): EscAction | unknown {
  const prompt = { isBusy: before.turn !== undefined, columns: 80, commands }
  const context = { prompt, room: { columns: 80, rows: 24 }, promptRows: 1, isAlone: true }
  const { actions, effects } = press(before, [key('escape')], context)
  const [effect] = effects
  if (effect?.type === 'command' && effect.line === '/rewind') return 'rewind'
  if (effect) return effect.type === 'answer' ? 'decline' : effect.type
  return actions.map((action) => toEscAction(action, before)).find(Boolean) ?? 'nothing'
}

function toEscAction(action: KeyActions['actions'][number], before: ChatState): EscAction | undefined {
  if (action.type === 'ask-card') {
    const [was] = before.asks
    if (was?.state.isWriting && !action.card.state.isWriting) return 'return-to-choices'
    if (was?.state.kind === 'permission' && was.state.hasDetails) return 'hide-details'
    return action.card.state.pick.by === 'card' ? 'clear-selection' : undefined
  }
  if (action.type !== 'set') return undefined
  const { change } = action
  if ('overlay' in change) return change.overlay ? 'return-to-overlay' : 'close-overlay'
  if (before.prompt.menu && change.prompt?.menu === undefined) return 'close-menu'
  if (before.prompt.vim?.mode === 'insert' && change.prompt?.vim?.mode === 'normal') return 'leave-insert'
  if (before.prompt.vim?.pending && change.prompt?.vim?.pending === '') return 'cancel-command'
  if (before.prompt.text !== '' && change.prompt?.text === '') return 'clear-draft'
  if (change.prompt?.armed === 'rewind') return 'confirm-rewind'
  return change.prompt?.armed === 'clear' ? 'confirm-clear' : undefined
}

function withOverlay(overlay: Overlay): ChatState {
  return { ...BUSY, overlay, isOverlayArmed: true, asks: [PERMISSION] }
}

function withCard(card: AskCard, change: Partial<AskCard['state']>): ChatState {
  return { ...BUSY, asks: [{ ...card, state: { ...card.state, ...change } as AskCard['state'] }] }
}
