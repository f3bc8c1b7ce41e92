import { titleConversation } from '../base/auto-title.ts'
import { pluralize } from '../base/format.ts'
import { listSpeakers } from '../base/sender-class.ts'
import { readTypedMessage, type SentShellLine } from '../base/typed-message.ts'
import type { SessionInfo, SessionMessage } from './crabtalk.generated.ts'
import { type Dispatch, request } from './dispatch.ts'
import { escapeHtml, markdownToHtml } from './html-text.ts'
import { readMessages } from './read-messages.ts'

/**
 * Renders a conversation as one HTML page that looks like the chat, in light or dark. The page loads and runs
 * nothing, and all text is escaped.
 */
export async function* conversationHtml(
  dispatch: Dispatch,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const info = await request(dispatch, 'getSession', { session }, signal)
  yield pageStart(info)
  let isDropped = false
  for await (const message of readMessages(dispatch, session, signal)) {
    if (message.dropped && !isDropped)
      yield '<hr><p class="dim">Went back: the agent no longer sees the messages from here on.</p>\n'
    if (!message.dropped && isDropped) yield '<p class="dim">The conversation continued here.</p><hr>\n'
    isDropped = message.dropped
    yield renderMessage(message)
  }
  yield '</main>\n</body>\n</html>\n'
}

function pageStart(info: SessionInfo): string {
  const title = escapeHtml(titleConversation(info))
  const facts = [...listSpeakers(info), info.createdAt, pluralize(info.messageCount, 'message')]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="dim">${facts.map(escapeHtml).join(' · ')}</p>
`
}

function renderMessage(message: SessionMessage): string {
  if (message.role === 'tool') return renderResult(message)
  if (message.role === 'user') {
    const files = message.attachments.map(({ name, mediaType }) => `\n+ ${name || mediaType}`).join('')
    const { shellLines, text } = readTypedMessage(message.content)
    return `${shellLines.map(renderShellLine).join('')}<section class="user">${escapeHtml(text + files)}</section>\n`
  }
  const guest = message.agent === '' ? '' : `<p class="dim">${escapeHtml(message.agent)}</p>`
  const answer =
    message.content.trim() === ''
      ? ''
      : `<section class="answer">${guest}${markdownToHtml(message.content)}</section>\n`
  const calls = message.toolCalls.map(({ name, arguments: args }) => {
    return `<details class="call"><summary>${escapeHtml(name)} <span class="dim">${escapeHtml(toLine(args))}</span></summary><pre><code>${escapeHtml(toText(args))}</code></pre></details>\n`
  })
  return answer + calls.join('')
}

function renderShellLine({ line, output }: SentShellLine): string {
  return `<details class="call"><summary>! ${escapeHtml(line)}</summary><pre><code>${escapeHtml(output)}</code></pre></details>\n`
}

function renderResult({ name, isError, content }: SessionMessage): string {
  const sign = isError ? '<span class="failed">✗</span>' : '<span class="done">✓</span>'
  const count = pluralize(content.trimEnd().split('\n').length, 'line')
  return `<details class="result"><summary>${sign} ${escapeHtml(name)} <span class="dim">${count}</span></summary><pre><code>${escapeHtml(content)}</code></pre></details>\n`
}

/** Returns the first argument of a call, on one short line. */
function toLine(args: string): string {
  const [first = ''] = Object.values(parseArguments(args)).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  )
  const [line = ''] = first.split('\n')
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
}

function toText(args: string): string {
  const values = Object.entries(parseArguments(args))
  if (values.length === 0) return args
  return values
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}

function parseArguments(args: string): object {
  try {
    const value: unknown = JSON.parse(args)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {} // shown as it is
  }
}

const MAX_LINE = 100

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --dim: #6b7280; --page: #ffffff; --user: #eef2f7; --bar: #4f7cff;
  --code: #f6f8fa; --done: #1a7f37; --failed: #c93c37 }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --dim: #8b949e; --page: #16181c; --user: #22262d;
  --bar: #6c93ff; --code: #1e2127; --done: #57ab5a; --failed: #f47067 } }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 ui-monospace, Menlo, Consolas, monospace }
main { max-width: 100ch; margin: 0 auto; padding: 2rem 1rem }
h1 { font-size: 1.2rem } h2, h3, h4, h5, h6 { font-size: 1rem }
p, blockquote { white-space: pre-wrap; margin: .6rem 0 } blockquote { border-left: 3px solid var(--dim); padding-left: 1ch }
pre { background: var(--code); padding: .6rem 1ch; overflow-x: auto; margin: .6rem 0 } code { background: var(--code) }
.language { float: right; color: var(--dim) }
.user { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--user); border-left: 4px solid var(--bar);
  padding: .4rem 1ch; margin: 1.4rem 0 .8rem }
.answer { overflow-wrap: anywhere } .dim { color: var(--dim) } .done { color: var(--done) } .failed { color: var(--failed) }
details { margin: .1rem 0 } summary { cursor: pointer; overflow-wrap: anywhere } .result { margin-left: 2ch }
`
