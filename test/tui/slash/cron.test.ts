import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChatPorts } from '../../../src/commands/chat/ports.ts'
import { overlayText } from '../../../src/tui/plain/choices.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

const FILE = `[[cron]]
id = 1
schedule = "0 30 9 * * MON-FRI"
content = "What do my notes say?"

[[cron]]
id = 2
schedule = "@daily"
content = "Good morning"
sender = "today"
`

test('/cron lists the entries with their next time and last result, shows one and removes one', async () => {
  await using box = await openCronChat(FILE)
  const { chat } = box
  await runSlash('/cron', chat.context, NEVER)
  assert.deepEqual(panelOf(chat).rows, [
    ['#1', '-', '-', 'What do my notes say?', 'at 09:30, Monday to Friday', 'crab/cron'],
    ['#2', '-', '-', 'Good morning', '@daily', 'crab/today'],
  ])
  assert.match(panelOf(chat).note, /no scheduler is running.*crabup cron start/)
  await box.press('s', '1')
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  assert.match(overlay.text, /next +\w{3} \d{4}-\d\d-\d\d 09:30:00/)
  assert.equal(overlay.back?.kind, 'panel')
  chat.context.act({ type: 'set', change: { overlay: overlay.back } })
  await box.press('d', '1')
  assert.equal(panelOf(chat).note, 'Removed entry 1')
  assert.equal(panelOf(chat).rows.length, 1)
  assert.doesNotMatch(await readFile(box.file, 'utf8'), /notes/)
  await assert.rejects(box.press('d', '1'), { message: 'Cannot remove the entry 1: it does not exist' })
})

test('/cron run fires an entry now, prints its answer, and open leads to its conversation', async () => {
  await using box = await openCronChat(FILE)
  const { chat } = box
  await runSlash('/cron open 2', chat.context, NEVER)
  assert.equal(chat.state().hint, 'Entry 2 has not run yet')
  await runSlash('/cron run 2', chat.context, NEVER)
  assert.equal(chat.state().hint, 'Running entry 2…')
  await printed(chat)
  assert.match(JSON.stringify(chat.blocks()), /Entry 2 ran in crab\/today/)
  assert.equal(chat.state().hint, '')
  await runSlash('/cron', chat.context, NEVER)
  assert.match(panelOf(chat).rows[1]![2]!, /^ok .*by hand$/)
  await box.press('o', '2')
  assert.match(chat.done[0]!, /^open [0-9a-f]+-[0-9A-Z]{26}$/)
})

test('/cron says why a run failed, and what it does not know', async () => {
  await using box = await openCronChat('[[cron]]\nid = 1\nschedule = "@daily"\nskill = "nothing"\n')
  const { chat } = box
  await runSlash('/cron run 1', chat.context, NEVER)
  await printed(chat)
  assert.match(JSON.stringify(chat.blocks()), /Entry 1 failed: Cannot find the skill \\"nothing\\"/)
  await runSlash('/cron', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay)
  assert.match(overlayText(overlay), /1\. #1, -, failed .* by hand, \/nothing.*Cannot find the skill/)
  await runSlash('/cron fly 1', chat.context, NEVER)
  await runSlash('/cron run 9', chat.context, NEVER)
  const texts = chat.blocks().flatMap((block) => (block.kind === 'notice' ? [block.text] : []))
  assert.deepEqual(texts.slice(-2), ['Cannot run "/cron fly 1": unknown action', 'Cannot find the entry 9'])
})

test('/cron without schedules says how to add one, and reports a file that cannot be read', async () => {
  await using none = await openCronChat('')
  await runSlash('/cron', none.chat.context, NEVER)
  assert.match(JSON.stringify(none.chat.blocks()), /crabtalk cron add/)
  await using broken = await openCronChat('[[cron')
  await assert.rejects(runSlash('/cron', broken.chat.context, NEVER), { kind: 'config' })
})

test('/doctor shows the findings of all areas, and fixes what can be fixed', async () => {
  await using box = await openCronChat('')
  const { chat } = box
  await writeFile(join(box.home, 'config.toml'), 'model = "demo"\n[env]\nKEY = "secret"\n', { mode: 0o644 })
  await runSlash('/doctor', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  for (const area of ['program', 'home', 'configuration', 'model', 'permissions', 'terminal'])
    assert.match(overlay.text, new RegExp(`^${area}$`, 'm'))
  assert.equal(chat.state().hint, '')
  await runSlash('/doctor now', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /\/doctor takes only \\"fix\\" or \\"deep\\"/)
  await onChosen({ type: 'chosen', picker: 'doctor', value: '', key: 'f' }, chat.context, NEVER)
  const fixed = chat.state().overlay
  assert.ok(fixed?.kind === 'page')
  assert.match(fixed.title, /^Doctor: \d+ problems?, \d+ warnings?$/)
})

/** Waits for the next printed block. */
async function printed({ context, blocks }: SlashChat): Promise<void> {
  const before = blocks().length
  await new Promise<void>((resolve) => {
    const stop = context.subscribe(() => {
      if (blocks().length === before) return
      stop()
      resolve()
    })
  })
}

function panelOf(chat: SlashChat): { rows: (readonly string[])[]; note: string } {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'panel')
  return { rows: overlay.rows.map(({ cells }) => cells), note: overlay.note }
}

/** A chat over the real ports of a home with that crons.toml, whose agents run in this process. */
async function openCronChat(crons: string) {
  const box = await makeTestHost()
  const home = join(box.folder, 'home')
  const file = join(home, 'config', 'crons.toml')
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(file, crons)
  const opened = openChatPorts({ ...box.host, env: { ...box.host.env, CRABTALK_HOME: home } })
  const made = createSlashChat(opened.ports.dispatch)
  const context = { ...made.context, ports: opened.ports }
  const chat: SlashChat = { ...made, context }
  return {
    chat,
    home,
    file,
    press: (key: string, value: string) =>
      onChosen({ type: 'chosen', picker: 'cron', value, key }, context, NEVER),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await box[Symbol.asyncDispose]()
    },
  }
}
