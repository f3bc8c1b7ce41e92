import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChatSettings, DEFAULT_CHAT_SETTINGS } from '../../../src/core/base/chat-settings.ts'
import { formatSetting, SETTING_ROWS } from '../../../src/tui/slash/setting-rows.ts'
import { openTestChat } from '../../support/open-chat.ts'

/** A chat whose settings are in memory; `written` lists what was written to them. */
async function openWithSettings() {
  const written: [readonly string[], unknown][] = []
  let settings: ChatSettings = DEFAULT_CHAT_SETTINGS
  const port = {
    read: async () => ({ settings, problems: [] }),
    async write(path: readonly string[], value: unknown) {
      written.push([path, value])
      const [key] = path
      if (key === 'status')
        settings = { ...settings, status: (value ?? DEFAULT_CHAT_SETTINGS.status) as ChatSettings['status'] }
      if (key === 'progress') settings = { ...settings, progress: value as boolean }
      if (key === 'keymap') settings = { ...settings, keymap: value as ChatSettings['keymap'] }
    },
    watch: () => ({ [Symbol.dispose]() {} }),
  }
  return { written, chat: await openTestChat([], { ports: { settings: port } }) }
}

test('SETTING_ROWS has a row for each setting, and formats its default', () => {
  assert.equal(SETTING_ROWS.length, Object.keys(DEFAULT_CHAT_SETTINGS).length)
  assert.deepEqual(
    SETTING_ROWS.map(({ key, read }) => `${key} ${formatSetting(read(DEFAULT_CHAT_SETTINGS))}`).slice(0, 4),
    ['theme auto', 'colors none', `status ${DEFAULT_CHAT_SETTINGS.status.length} parts`, 'keymap default'],
  )
})

test('/config switches a setting with Enter and chooses a value in a picker', async () => {
  const { chat: opened, written } = await openWithSettings()
  await using chat = opened
  chat.type('/config progress')
  chat.press('enter')
  await chat.until(({ settings }) => !settings.progress)
  await chat.until(({ overlay }) => overlay?.kind === 'panel' && overlay.note === 'progress = off')
  chat.press('escape')
  chat.type('/config keymap')
  chat.press('enter')
  await chat.until(({ overlay, isOverlayArmed }) => overlay?.kind === 'picker' && isOverlayArmed)
  chat.press('down')
  chat.press('enter')
  await chat.until(({ settings, prompt }) => settings.keymap === 'vim' && prompt.vim?.mode === 'insert')
  assert.deepEqual(written, [
    [['progress'], false],
    [['keymap'], 'vim'],
  ])
})

test('/config moves and hides parts of the status line', async () => {
  const { chat: opened, written } = await openWithSettings()
  await using chat = opened
  chat.type('/config status')
  chat.press('enter')
  await chat.until(({ overlay, isOverlayArmed }) => overlay?.kind === 'panel' && isOverlayArmed)
  chat.press('text', { text: 'd' })
  await chat.until(({ settings }) => settings.status[1] === 'agent')
  await chat.until(
    ({ overlay, isOverlayArmed }) => overlay?.kind === 'panel' && overlay.selected === 1 && isOverlayArmed,
  )
  chat.press('text', { text: 't' })
  await chat.until(({ settings }) => !settings.status.includes('agent'))
  assert.equal(written.length, 2)
})

test('/config KEY VALUE reads numbers, lists and switches, and names the nearest key', async () => {
  const { chat: opened, written } = await openWithSettings()
  await using chat = opened
  for (const line of ['compact_at 70%', 'status agent, model', 'keys.redraw alt+x', 'theme default']) {
    chat.type(`/config ${line}`)
    chat.press('enter')
    await chat.until(({ hint }) => hint.startsWith(line.split(' ')[0]!))
  }
  chat.type('/config thme')
  chat.press('enter')
  await chat.until(() =>
    chat.blocks().some((block) => block.kind === 'notice' && block.hint === 'did you mean "theme"?'),
  )
  assert.deepEqual(written, [
    [['compact_at'], 0.7],
    [['status'], ['agent', 'model']],
    [['keys', 'redraw'], ['alt+x']],
    [['theme'], undefined],
  ])
})
