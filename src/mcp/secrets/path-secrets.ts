/** An address whose path may hold a key in place of a name, as some services hand them out; what it gives stands for it. */
export function maskPath(url: string, hide: (secret: string) => string): string {
  const [, head = '', path = '', rest = ''] = /^(\w+:\/\/[^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [url, url]
  const shown = path
    .split('/')
    .map((part) => (isKey(part) ? hide(part) : part))
    .join('/')
  return head + shown + rest
}

/** A UUID, or a long word of letters and digits that nobody would give as a name. */
function isKey(part: string): boolean {
  if (UUID.test(part)) return true
  return part.split(/[-_.~]/).some((word) => word.length >= MIN_KEY && /\d/.test(word) && /[a-z]/i.test(word))
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const MIN_KEY = 16
