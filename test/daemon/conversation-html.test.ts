import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationHtml } from '../../src/core/protocol/conversation-html.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { escapeHtml, markdownToHtml } from '../../src/core/protocol/html-text.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const EVIL = `</style></pre><script>alert(1)</script><img src=x onerror="alert('1')">`

test('conversationHtml() renders one page that loads nothing, and escapes everything that was said', async () => {
  const call = { call: 'a', name: 'read', args: JSON.stringify({ path: EVIL }) }
  await using node = await startTestDispatch([
    { parts: [call] },
    { parts: [`# Title\n\n${EVIL}\n\n\`\`\`${EVIL}\n${EVIL}\n`] },
  ])
  await node.ask(EVIL)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const session = conversations[0]!.filePath
  await request(node.dispatch, 'setTitle', { session, title: EVIL }, NEVER)
  const html = (await Array.fromAsync(conversationHtml(node.dispatch, session, NEVER))).join('')
  assert.match(html, /^<!doctype html>/)
  assert.match(html, /default-src 'none'/)
  assert.match(html, /prefers-color-scheme: dark/)
  const tags = new Set([...html.matchAll(/<\/?([a-z][a-z0-9]*)/g)].map(([, tag]) => tag))
  const known =
    'html head meta title style body main h1 p section details summary span pre code hr strong blockquote'
  assert.deepEqual(
    [...tags].filter((tag) => !known.split(' ').includes(tag!)),
    [],
  )
  assert.doesNotMatch(html, /<[^>]*\s(?:on\w+|src|href)=/)
  assert.equal(html.match(/<\/style>/g)?.length, 1)
  assert.match(html, /<section class="user">&lt;\/style&gt;/)
  assert.match(html, /✗<\/span> read/)
})

test('markdownToHtml() renders code, headings, lists, quotes and bold, and leaves the rest as text', () => {
  assert.equal(
    markdownToHtml(
      '## A `b`\ntext **bold** [x](javascript:alert(1))\n- one\n\n> said\n\n```ts\na < b\n```\nend',
    ),
    '<h2>A <code>b</code></h2><p>text <strong>bold</strong> [x](javascript:alert(1))\n• one</p>' +
      '<blockquote>said</blockquote><pre><span class="language">ts</span><code>a &lt; b</code></pre><p>end</p>',
  )
  assert.equal(markdownToHtml('```\nopen'), '<pre><code>open</code></pre>')
})

test('escapeHtml() escapes markup and removes terminal sequences', () => {
  assert.equal(escapeHtml(`<a b='c'>&"\u001b[31mred`), '&lt;a b=&#39;c&#39;&gt;&amp;&quot;red')
})
