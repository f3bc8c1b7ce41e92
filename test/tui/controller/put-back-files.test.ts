import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PastedFiles } from '../../../src/tui/controller/message.ts'
import { CLIPBOARD_NAME } from '../../../src/tui/ports.ts'
import { type OpenChat, openTestChat } from '../../support/open-chat.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')
const toImage = (name: string) => ({ name, mediaType: 'image/png', data: PNG })

test('a message with a pasted image comes back with it, and is sent with it again', async () => {
  const paste = async () => toImage(CLIPBOARD_NAME)
  await using chat = await openTestChat(() => ({ parts: ['A crab.'] }), { ports: { paste } })
  await chat.controller.open(chat.follow())
  chat.type('what is ')
  chat.press('text', { text: 'v', ctrl: true })
  await chat.until(({ prompt }) => prompt.text.includes('[Image 1]'))
  chat.press('enter')
  await chat.idle()
  assert.equal(listImages(chat).length, 1)
  chat.controller.do({ type: 'command', line: '/rewind' })
  await choose(chat, 'rewind')
  await choose(chat, 'rewind-how')
  await chat.until(({ prompt }) => prompt.text === 'what is [Image 1]')
  chat.press('escape') // closes the list, which a key would have closed
  chat.press('enter')
  await chat.until(() => chat.node.server.requests.length === 2)
  await chat.idle()
  assert.equal(listImages(chat).length, 1)
})

test('putBack() keeps free labels, gives others to the rest, and leaves out what the text names', () => {
  const files = new PastedFiles()
  const pasted = toImage(CLIPBOARD_NAME)
  assert.equal(files.putBack('a [Image 4] b [Image 2]', [pasted, pasted]), 'a [Image 4] b [Image 2]')
  assert.equal(files.in('[Image 2][Image 4]').length, 2)
  assert.equal(files.add(pasted), '[Image 5]')
  assert.equal(files.putBack('[Image 5]!', [pasted]), '[Image 6]!')
  assert.equal(files.putBack('@dir/a.png', [toImage('a.png')]), '@dir/a.png')
  assert.equal(files.putBack('@server:uri', [toImage('')]), '@server:uri')
  assert.equal(files.putBack('sent by a script', [toImage('a.png')]), 'sent by a script [Image 7]')
  assert.equal(files.putBack('', [pasted]), '[Image 8]')
})

async function choose(chat: OpenChat, picker: string): Promise<void> {
  await chat.until(({ overlay }) => overlay?.kind === 'picker' && overlay.picker === picker)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  const { value } = overlay.items[0]!
  chat.controller.do({ type: 'chosen', picker: overlay.picker, value })
}

/** Returns the addresses of the images in the last request. */
function listImages({ node }: OpenChat): string[] {
  const { messages } = node.server.requests.at(-1)!.json as { messages: { content: unknown }[] }
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content.flatMap((part: { image_url?: { url: string } }) => part.image_url?.url ?? [])
      : [],
  )
}
